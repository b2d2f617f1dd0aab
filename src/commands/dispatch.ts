import type { Kind, LedgerEvent } from '../../events/catalogue.js'
import type { NewEvent } from '../log/contract/log.js'
import type { Lookup } from '../log/contract/lookups.js'
import * as agent from './agent.js'
import * as chatbot from './chatbot.js'
import * as config from './config.js'
import * as database from './database.js'
import * as engine from './engine.js'
import * as file from './file.js'
import * as job from './job.js'
import * as model from './model.js'
import * as project from './project.js'
import { rollbackOf, type RollbackCommand } from './rollback.js'
import * as skill from './skill.js'
import * as view from './view.js'

export type LedgerCommand =
  | project.ProjectCommand
  | skill.SkillCommand
  | agent.AgentCommand
  | chatbot.ChatbotCommand
  | database.DatabaseCommand
  | view.ViewCommand
  | file.FileCommand
  | config.ConfigCommand
  | engine.EngineCommand
  | model.ModelCommand
  | job.JobCommand
  | RollbackCommand

/** An event of another resource than the subject says its stream. */
type Decision = (LedgerEvent | NewEvent)[]
/**
 * A resource's commands: `reads` says what the drain looks up for one, `readsFurther` what it then asks of these facts, `decide` is
 * pure and gives events or throws a Problem.
 */
type Module = {
  reads: (command: never) => Record<string, Lookup>
  readsFurther?: (facts: never) => Record<string, Lookup>
  decide: (command: never, facts: never) => Decision
}
type Handler = {
  /** The kind of the resource that the events belong to; the fact of this name is that resource. */
  subject: Kind
  reads: (command: LedgerCommand) => Record<string, Lookup>
  readsFurther: ((facts: Record<string, unknown>) => Record<string, Lookup>) | undefined
  decide: (command: LedgerCommand, facts: Record<string, unknown>) => Decision
}

// A command's own module is found by its type, so what it gets is what it declared.
const handler = (subject: Kind, module: Module): Handler => ({
  subject,
  reads: module.reads as Handler['reads'],
  readsFurther: module.readsFurther as Handler['readsFurther'],
  decide: module.decide as Handler['decide'],
})

const project_ = handler('project', project)
const skill_ = handler('skill', skill)
const agent_ = handler('agent', agent)
const chatbot_ = handler('chatbot', chatbot)
const database_ = handler('database', database)
const view_ = handler('view', view)
const file_ = handler('file', file)
const config_ = handler('config', config)
const engine_ = handler('engine', engine)
const model_ = handler('model', model)
const job_ = handler('job', job)

/** Who decides each command. */
export const handlers: Record<LedgerCommand['type'], Handler> = {
  CreateProject: project_,
  RenameProject: project_,
  DeleteProject: project_,
  CreateSkill: skill_,
  UpdateSkill: skill_,
  PutSkill: skill_,
  DeleteSkill: skill_,
  CreateAgent: agent_,
  UpdateAgent: agent_,
  DeleteAgent: agent_,
  CreateChatbot: chatbot_,
  UpdateChatbot: chatbot_,
  PutChatbot: chatbot_,
  DeleteChatbot: chatbot_,
  CreateDatabase: database_,
  UpdateDatabase: database_,
  PutDatabase: database_,
  DeleteDatabase: database_,
  CreateView: view_,
  UpdateView: view_,
  PutView: view_,
  DeleteView: view_,
  CreateFile: file_,
  ReplaceFile: file_,
  AppendToFile: file_,
  DeleteFile: file_,
  UpdateConfig: config_,
  CreateEngine: engine_,
  DeleteEngine: engine_,
  CreateModel: model_,
  RetrainModel: model_,
  FinetuneModel: model_,
  StartTraining: model_,
  CompleteTraining: model_,
  FailTraining: model_,
  CancelTraining: model_,
  ActivateModelVersion: model_,
  SetModelRecording: model_,
  DeleteModelVersion: model_,
  DeleteModel: model_,
  CreateJob: job_,
  DeleteJob: job_,
  StartJobRun: job_,
  FinishJobRun: job_,
  RollBackSkill: handler('skill', rollbackOf('skill')),
  RollBackAgent: handler('agent', rollbackOf('agent')),
  RollBackChatbot: handler('chatbot', rollbackOf('chatbot')),
  RollBackView: handler('view', rollbackOf('view')),
  RollBackJob: handler('job', rollbackOf('job')),
  RollBackDatabase: handler('database', rollbackOf('database')),
  RollBackFile: handler('file', rollbackOf('file')),
}
