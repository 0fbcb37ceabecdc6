//! What `--define` gives to a model.

/// A constant or macro that is given a value, or named alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefineArg {
    /// What is defined, perhaps with parameters.
    pub name: String,
    /// As it is written, if it is.
    pub value: Option<String>,
}

impl DefineArg {
    /// Reads what `--define` is given.
    pub fn read(text: &str) -> Result<DefineArg, String> {
        let (name, value) = match text.split_once('=') {
            None => (text, None),
            Some((name, value)) => (name, Some(value.trim().to_owned())),
        };
        match name.trim() {
            "" => Err("expected NAME=VALUE, or NAME alone".to_owned()),
            name => Ok(DefineArg { name: name.to_owned(), value }),
        }
    }

    /// The value, if it is an integer.
    pub fn integer(&self) -> Option<i64> {
        self.value.as_ref()?.parse().ok()
    }

    /// The text, which is 1 where none is written.
    pub fn text(&self) -> &str {
        self.value.as_deref().unwrap_or("1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_a_name_and_perhaps_a_value() {
        let integer = |text: &str| DefineArg::read(text).map(|it| it.integer());
        assert_eq!(integer("N=3"), Ok(Some(3)));
        assert_eq!(integer(" N = -3 "), Ok(Some(-3)));
        assert_eq!([integer("N"), integer("N="), integer("N=x")], [Ok(None), Ok(None), Ok(None)]);
        let text =
            |text: &str| DefineArg::read(text).map(|it| (it.name.clone(), it.text().to_owned()));
        assert_eq!(text("N"), Ok(("N".into(), "1".into())));
        assert_eq!(text("N="), Ok(("N".into(), String::new())));
        assert_eq!(text(" F(x) = x == 1 "), Ok(("F(x)".into(), "x == 1".into())));
        for wrong in ["", "=", "=3"] {
            assert!(DefineArg::read(wrong).is_err(), "{wrong}");
        }
    }
}
