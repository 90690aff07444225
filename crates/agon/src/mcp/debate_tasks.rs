//! The tasks extension: a task is a debate, and its id is the debate's. Nothing is kept beside the log, so a task outlives the process.

use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, CreateTaskResult, DetailedTask, GetTaskResult, JsonObject, Task, TaskPayload, TaskStatus,
    UpdateTaskParams,
};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::McpServer;
use super::debate_result::debate_result;
use super::elicitation::shows_forms;
use super::tool_calls::{debate_call_result, protocol_error};
use crate::cli::clock;
use crate::hosting::DebateState;
use crate::hosting::host_error::HostError;

/// How often a client should ask.
const POLL_INTERVAL_MS: u64 = 2_000;

impl McpServer {
    /// The task of a debate that was just opened.
    pub(super) async fn new_task(&self, id: &str) -> Result<CreateTaskResult, HostError> {
        let debate = self.host().debate_so_far(id).await?;
        let task = Task::new(id, TaskStatus::Working, &debate.brief.created_at, &debate.brief.created_at);
        Ok(CreateTaskResult::new(task.with_poll_interval_ms(POLL_INTERVAL_MS)))
    }

    /// A task as it is now.
    pub(super) async fn task_now(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let host = self.host();
        let id = self.known_debate(id).await.map_err(protocol_error)?;
        let result = debate_result(host, &id).await.map_err(protocol_error)?;
        let debate = host.debate_so_far(&id).await.map_err(protocol_error)?;
        let created_at = &debate.brief.created_at;
        let updated_at = match result.state.is_over() {
            true => agon_core::timestamps::later(created_at, debate.at_ms),
            false => clock::timestamp(),
        };
        let mut task = Task::new(&id, TaskStatus::Working, created_at, updated_at);
        task.status_message = result.progress.clone();
        task.poll_interval_ms = Some(POLL_INTERVAL_MS);
        let forms = if shows_forms(context) { self.form_requests(&id) } else { Default::default() };
        let payload = match result.state {
            state if state.is_over() => completed(debate_call_result(&result)),
            // A debate that was stopped has no fault.
            DebateState::Interrupted => match host.fault_of(&id) {
                Some(sentence) => failed(&sentence),
                None => TaskPayload::Cancelled,
            },
            _ if !forms.is_empty() => TaskPayload::InputRequired { input_requests: forms },
            _ => TaskPayload::Working,
        };
        Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
    }

    /// Passes on the answers of people.
    pub(super) async fn answer_task(&self, request: UpdateTaskParams) -> Result<(), ErrorData> {
        let id = self.known_debate(&request.task_id).await.map_err(protocol_error)?;
        self.take_form_answers(&id, request.input_responses).await;
        Ok(())
    }

    /// Stops the debate of a task in order.
    pub(super) async fn stop_task(&self, id: &str) -> Result<(), ErrorData> {
        let id = self.known_debate(id).await.map_err(protocol_error)?;
        match self.host().runs_here(&id) {
            true => self.host().stop(&id).await.map_err(protocol_error),
            false => Ok(()),
        }
    }

    /// A task is named by the whole id of its debate.
    async fn known_debate(&self, id: &str) -> Result<String, HostError> {
        let wanted = id.to_owned();
        Ok(self.host().read_store(move |store| store.listed_debate(&wanted)).await?.id)
    }
}

fn completed(result: CallToolResult) -> TaskPayload {
    TaskPayload::Completed { result: fields_of(serde_json::to_value(result)) }
}

fn failed(sentence: &str) -> TaskPayload {
    let error = ErrorData::internal_error(sentence.to_owned(), None);
    TaskPayload::Failed { error: fields_of(serde_json::to_value(error)) }
}

fn fields_of(value: serde_json::Result<Value>) -> JsonObject {
    match value {
        Ok(Value::Object(fields)) => fields,
        _ => JsonObject::new(),
    }
}
