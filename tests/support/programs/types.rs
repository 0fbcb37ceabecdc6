//! The generation of types: every kind of scalar, and aggregates.

use super::Builder;
use spillway::ir::{Arithmetic, Domain, EnumId, ScalarType, ScalarsetId, Type, TypeId};

/// The maximum nesting of aggregates.
const DEPTH_MAX: u32 = 2;
/// The maximum number of scalars of one variable.
const SCALARS_MAX: u32 = 150;

impl Builder<'_> {
    /// Returns a type of variables.
    pub(super) fn any_type(&mut self) -> TypeId {
        let ty = self.type_of_depth(0);
        match self.program.scalars(ty) <= SCALARS_MAX {
            true => ty,
            false => self.small[0],
        }
    }

    fn type_of_depth(&mut self, depth: u32) -> TypeId {
        let sorts: &[u32] = if depth < DEPTH_MAX { &[50, 16, 7, 14, 13] } else { &[1] };
        match self.choices.weighted(sorts) {
            0 => self.scalar_type(),
            1 => self.array_type(depth),
            2 => self.long_array(),
            3 => self.record_type(depth),
            _ => self.multiset_type(depth),
        }
    }

    fn array_type(&mut self, depth: u32) -> TypeId {
        let element = self.type_of_depth(depth + 1);
        let by = self.choices.chance(20).then_some(Domain::Scalarset(ScalarsetId(0)));
        let (low, length) = match by {
            Some(_) => (0, self.program.scalarsets[ScalarsetId(0)].size),
            None => (self.choices.between(-2, 2), self.choices.between(1, 4) as u32),
        };
        self.program.types.push(Type::Array { low, length, by, element })
    }

    /// Returns an array longer than any machine word.
    fn long_array(&mut self) -> TypeId {
        let element = self.scalar_type();
        let low = self.choices.pick(&[0, 1, -7, 100]);
        let length = self.choices.between(8, 70) as u32;
        self.program.types.push(Type::Array { low, length, by: None, element })
    }

    fn record_type(&mut self, depth: u32) -> TypeId {
        let fields = 1 + self.choices.below(3);
        let fields =
            (0..fields).map(|at| (format!("f{at}"), self.type_of_depth(depth + 1))).collect();
        let name = format!("R{}", self.program.types.len());
        self.program.types.push(Type::Record { name, fields })
    }

    fn multiset_type(&mut self, depth: u32) -> TypeId {
        let element = self.type_of_depth(depth + 1);
        let capacity = self.choices.between(1, 3) as u32;
        self.program.types.push(Type::Multiset { capacity, element })
    }

    /// Returns a scalar type.
    pub(super) fn scalar_type(&mut self) -> TypeId {
        let domain = self.domain();
        let (low, high) = self.program.bounds(&domain);
        let full = high - low + 1 > u32::MAX.into();
        let undefined = !full && self.choices.chance(20);
        let ty = self.program.types.push(Type::Scalar(ScalarType { domain, undefined }));
        if high - low < 6 {
            self.small.push(ty);
        }
        ty
    }

    fn domain(&mut self) -> Domain {
        let (some_enum, some_set) = (EnumId(0), ScalarsetId(0));
        match self.choices.weighted(&[14, 30, 12, 3, 8, 8, 7, 4, 5, 6, 3]) {
            0 => Domain::Bool,
            1 => Domain::Range { low: 0, high: self.choices.between(1, 9) },
            2 => self.range(-5, 12),
            3 => Domain::Range { low: 7, high: 7 },
            4 => Domain::Range { low: 0, high: 255 },
            5 => Domain::Enum(some_enum),
            6 => Domain::Scalarset(some_set),
            7 => Domain::Union(vec![Domain::Scalarset(some_set), Domain::Enum(some_enum)]),
            8 => Domain::Range { low: i32::MIN.into(), high: i32::MAX.into() },
            9 => self.far_range(),
            _ if self.program.processes.is_empty() || self.choices.chance(50) => {
                match self.program.channels.is_empty() {
                    true => Domain::Bool,
                    false => Domain::Channel,
                }
            }
            _ => Domain::Process,
        }
    }

    fn range(&mut self, from: i64, length: i64) -> Domain {
        let low = self.choices.between(from, from + length);
        Domain::Range { low, high: low + self.choices.between(1, length) }
    }

    /// Returns a range at a limit of the arithmetic's integers, or one of many values.
    fn far_range(&mut self) -> Domain {
        let (least, greatest) = match self.program.arithmetic {
            Arithmetic::Wrapping32 => (i32::MIN.into(), i32::MAX.into()),
            Arithmetic::Checked64 => (i64::MIN, i64::MAX),
        };
        let size = self.choices.pick(&[3, 100, 0x1_0000, 0x7fff_fffe]);
        match self.choices.below(4) {
            0 => Domain::Range { low: -1000, high: 30_000 },
            1 => Domain::Range { low: greatest - size, high: greatest },
            2 => Domain::Range { low: least, high: least + size },
            _ => Domain::Range { low: -size / 2, high: size / 2 },
        }
    }
}
