//! Weights in 8 bits, which is what the network computes with.
//!
//! The small model is distributed with 4-bit weights (`Q4_1`). A copy with 8 bits (`Q8_0`) is half as large again and is loaded
//! faster. The rounding to 8 bits changes nothing noticeable after that to 4.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::Path;

use candle_core::Device;
use candle_core::quantized::gguf_file::{self, Content};
use candle_core::quantized::{GgmlDType, QTensor};

use crate::EmbeddedError;

/// The file name of the small model's fast copy.
pub(crate) const FAST_COPY_NAME: &str = "SmolLM2-135M-Instruct.Q8_0.gguf";

/// The same weights in 8 bits.
pub(crate) fn to_8_bits(tensor: &QTensor) -> Result<QTensor, EmbeddedError> {
    Ok(QTensor::quantize(&tensor.dequantize(&Device::Cpu)?, GgmlDType::Q8_0)?)
}

/// Copies a GGUF file and converts every matrix of the small formats to `Q8_0`.
pub(crate) fn write_fast_copy(from: &Path, to: &mut File) -> Result<(), EmbeddedError> {
    let mut file = BufReader::new(File::open(from)?);
    let content = Content::read(&mut file)?;
    let mut names: Vec<&String> = content.tensor_infos.keys().collect();
    names.sort_unstable();
    let mut tensors: Vec<(&str, QTensor)> = Vec::new();
    for name in names {
        let tensor = content.tensor(&mut file, name, &Device::Cpu)?;
        let is_small = matches!(tensor.dtype(), GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1);
        tensors.push((name, if is_small { to_8_bits(&tensor)? } else { tensor }));
    }
    let mut metadata: Vec<_> = content.metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    metadata.sort_unstable_by_key(|(key, _)| *key);
    let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
    let mut out = BufWriter::with_capacity(1 << 20, to);
    gguf_file::write(&mut out, &metadata, &tensors)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(())
}
