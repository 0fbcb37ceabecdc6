//! The identity of the model of a saved file.

use crate::session::SourceModel;
use crate::session::config::ModelConfig;
use serde_json::json;

/// Returns the digest of a model: of its texts, and of the options that change its steps. It does not depend on the
/// names of its files, nor on its properties.
pub(super) fn model_digest(model: &dyn SourceModel) -> String {
    let texts: Vec<&str> = model.sources().model_files().map(|it| it.text.as_str()).collect();
    let ModelConfig { definitions, overflow, lossy, .. } = model.model_config();
    let identity = json!([model.language().name, texts, definitions, overflow, lossy]);
    blake3::hash(identity.to_string().as_bytes()).to_hex().to_string()
}
