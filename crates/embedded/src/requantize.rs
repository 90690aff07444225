//! Weights in the form that is computed fastest.
//!
//! The small model comes in 4 bits (`Q4_1`), for which candle has no vector instructions; in 8 bits (`Q8_0`) the same weights
//! take half as much room again and are computed three to seven times as fast. What was rounded to 4 bits loses nothing
//! more that could be seen.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::Path;

use candle_core::Device;
use candle_core::quantized::gguf_file::{self, Content};
use candle_core::quantized::{GgmlDType, QTensor};

use crate::Broken;

/// What the fast copy of the small model's file is called.
pub(crate) const NAME: &str = "SmolLM2-135M-Instruct.Q8_0.gguf";

/// The same weights, in 8 bits if they are slow to compute.
pub(crate) fn fast(tensor: QTensor) -> Result<QTensor, Broken> {
    match tensor.dtype() {
        GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1 => {
            Ok(QTensor::quantize(&tensor.dequantize(&Device::Cpu)?, GgmlDType::Q8_0)?)
        }
        _ => Ok(tensor),
    }
}

/// Writes `from` to `to`, with every slow matrix in `Q8_0` and all else as it is.
pub(crate) fn requantize(from: &Path, to: &mut File) -> Result<(), Broken> {
    let mut file = BufReader::new(File::open(from)?);
    let content = Content::read(&mut file)?;
    let mut names: Vec<&String> = content.tensor_infos.keys().collect();
    names.sort_unstable();
    let mut tensors: Vec<(&str, QTensor)> = Vec::new();
    for name in names {
        tensors.push((name, fast(content.tensor(&mut file, name, &Device::Cpu)?)?));
    }
    let mut metadata: Vec<_> = content.metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    metadata.sort_unstable_by_key(|(key, _)| *key);
    let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
    let mut out = BufWriter::with_capacity(1 << 20, to);
    gguf_file::write(&mut out, &metadata, &tensors)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(())
}
