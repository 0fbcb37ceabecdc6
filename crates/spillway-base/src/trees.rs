//! Trees of operands of one operator. The recursion over a tree is as deep as its height, so many operands are joined
//! to a tree of least height.

/// The number of operands up to which the tree leans to the left, as expressions are usually written and displayed.
const LEANING_MAX: usize = 100;

/// Joins operands to a tree of least height, in the same order. The operator must be associative. Returns `None`
/// without operands.
pub fn balanced<T>(mut operands: Vec<T>, join: impl Fn(T, T) -> T) -> Option<T> {
    while operands.len() > 1 {
        let mut rest = operands.into_iter();
        let mut level = Vec::with_capacity(rest.len().div_ceil(2));
        while let Some(left) = rest.next() {
            level.push(match rest.next() {
                Some(right) => join(left, right),
                None => left,
            });
        }
        operands = level;
    }
    operands.pop()
}

/// Joins operands in the same way, but few operands to a tree that leans to the left.
pub fn joined<T>(operands: Vec<T>, join: impl Fn(T, T) -> T) -> Option<T> {
    match operands.len() <= LEANING_MAX {
        true => operands.into_iter().reduce(join),
        false => balanced(operands, join),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn height(text: &str) -> usize {
        let depths = text.chars().scan(0usize, |depth, char| {
            match char {
                '(' => *depth += 1,
                ')' => *depth -= 1,
                _ => {}
            }
            Some(*depth)
        });
        depths.max().unwrap_or_default()
    }

    #[test]
    fn joined_operands_keep_their_order_in_a_low_tree() {
        let numbers = |count: usize| (0..count).map(|it| it.to_string()).collect::<Vec<_>>();
        let join = |left: String, right: String| format!("({left} {right})");
        assert_eq!(joined(numbers(0), join), None);
        assert_eq!(joined(numbers(4), join).as_deref(), Some("(((0 1) 2) 3)"));
        assert_eq!(balanced(numbers(4), join).as_deref(), Some("((0 1) (2 3))"));
        assert_eq!(balanced(numbers(5), join).as_deref(), Some("(((0 1) (2 3)) 4)"));
        for count in [101, 1000, 5000] {
            let tree = joined(numbers(count), join).unwrap();
            assert!(height(&tree) <= 13, "{count}");
            let order: Vec<String> =
                tree.replace(['(', ')'], "").split(' ').map(str::to_owned).collect();
            assert_eq!(order, numbers(count));
        }
    }
}
