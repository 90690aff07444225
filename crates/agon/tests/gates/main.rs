//! The review gate in pipelines: the scripts of the GitHub action, of the GitLab job and of the pre-commit hook, as they are shipped.
//!
//! - `action`: the action's verdicts, files and comments; `hostile_changes`: what a change could try.
//! - `install`: where the action gets the program from.
//! - `gitlab`: the job; `pre_commit`: the hook, with the real `pre-commit` if `AGON_PRE_COMMIT` names it.
//! - `documents`: the examples and the chapter use only what exists.
//! - `action_runner`: runs `action.yml` as a runner of GitHub does; `github_api`: a stand-in for the service's comments;
//!   `repository`: a repository with a change.
//!
//! The tests need bash, git, curl and jq. Without one of them they say so and pass; with `AGON_GATES=required` they fail.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod action;
mod action_runner;
mod documents;
mod github_api;
mod gitlab;
mod hostile_changes;
mod install;
mod pre_commit;
mod repository;
