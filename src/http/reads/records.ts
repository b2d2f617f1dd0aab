import type { JsonObject } from '../../../events/common.js'
import { answeringVersion, type Model, type ModelVersion } from '../../../events/model.js'
import { notFound } from '../../basics/errors.js'
import { LongWork } from '../../basics/long-work.js'
import type { RunRecord } from '../../jobs/history.js'
import type { Kind, Resource, Log, Outcome } from '../../log/contract/log.js'
import { databaseOf, shownQuery } from '../../commands/rules/data-source.js'
import { inProject, resultOf } from '../../log/read/by-name.js'
import { lastKnown } from '../../log/read/last-known.js'
import { streamEventsWith } from '../../log/read/slices.js'
import type { ProgressOf } from '../../models/training/progress.js'
import { describeModelPlace, type NamedRows, type ModelPlace } from '../../sql/facade/describe-model.js'
import { maskSecrets } from '../../vault/seal-secrets.js'

/** `2026-11-21T10:00:00.123456Z` as records show it: UTC, `2026-11-21 10:00:00.123456`. */
export const recordTime = (recordedAt: string): string => recordedAt.slice(0, 26).replace('T', ' ')

const requestedType = 'ModelTrainingRequested'

/** A resource of a project. */
type ProjectMember = Resource<'skill' | 'agent' | 'chatbot' | 'view' | 'job' | 'model' | 'knowledge_base'>

/** Makes the records that combine several resources, as of one moment. Reads give the project of a resource; after a write, it is found. */
export class Records {
  constructor(
    readonly moment: Pick<Log, 'resources' | 'readStream'>,
    readonly version: string,
    /** The progress of trainings; missing for reads of the past. */
    private readonly progressOf?: ProgressOf,
  ) {}

  /** The resource that a write left. Outcomes of earlier releases lack it; then the current resource. @throws Problem 404 */
  async written<K extends Kind>(kind: K, { resource }: Outcome, projectName: string, ref: string): Promise<Resource<K>> {
    return resource ? resultOf(kind, resource) : (await inProject(this.moment, kind, projectName, ref)).found
  }

  /** The record of a skill with the agents that use it; secrets are masked. */
  async skill(skill: Resource<'skill'>, project?: Resource<'project'>) {
    return this.#skill(skill, project ?? (await this.#projectOf(skill)), await this.moment.resources.linkedIds('agent', skill.stream))
  }

  /** The same for a skill that was just created: no agent uses it yet. */
  async newSkill(skill: Resource<'skill'>) {
    return this.#skill(skill, await this.#projectOf(skill), [])
  }

  #skill(skill: Resource<'skill'>, project: Resource<'project'>, agentIds: readonly number[]) {
    return {
      id: skill.id,
      name: skill.state.name,
      project_id: project.id,
      agent_ids: agentIds,
      type: skill.state.type,
      params: maskSecrets(skill.state.params),
      created_at: recordTime(skill.created_at),
    }
  }

  /** The record of an agent with its skills; secrets are masked. */
  async agent(agent: Resource<'agent'>, project?: Resource<'project'>) {
    const within = project ?? (await this.#projectOf(agent))
    const { name, model_name, provider } = agent.state
    const skills: object[] = []
    const extra: [string, JsonObject][] = []
    const work = new LongWork()
    for (const used of agent.state.skills) {
      const skill = await this.moment.resources.byStream('skill', used.skill)
      if (!skill) continue
      skills.push(await this.skill(skill, within))
      extra.push([skill.state.name, maskSecrets(used.params)])
      await work.pause()
    }
    const params = maskSecrets(agent.state.params)
    return {
      id: agent.id,
      name,
      project_id: within.id,
      updated_at: recordTime(agent.updated_at),
      created_at: recordTime(agent.created_at),
      ...(model_name !== null && model_name !== '' && { model_name }),
      ...(provider !== null && provider !== '' && { provider }),
      ...(skills.length > 0 ? { skills, skills_extra_parameters: Object.fromEntries(extra), params } : lifted(params)),
    }
  }

  /** The record that writes answer. */
  async chatbot(chatbot: Resource<'chatbot'>) {
    const project = await this.#projectOf(chatbot)
    const { agent, database } = await this.#partners(chatbot)
    return {
      id: chatbot.id,
      name: chatbot.state.name,
      project_id: project.id,
      agent_id: agent?.id ?? null,
      model_name: (agent ?? chatbot).state.model_name,
      params: maskSecrets(chatbot.state.params),
      webhook_token: null,
      created_at: recordTime(chatbot.created_at),
      database_id: database?.id ?? null,
    }
  }

  /** The record that reads answer. */
  async chatbotDetail(chatbot: Resource<'chatbot'>, project: Resource<'project'>) {
    const { agent, database } = await this.#partners(chatbot)
    return {
      id: chatbot.id,
      name: chatbot.state.name,
      project: project.state.name,
      agent: agent ? await this.agent(agent, project) : null,
      database_id: database?.id ?? null,
      database: database?.state.name ?? '?',
      model_name: (agent ?? chatbot).state.model_name,
      params: maskSecrets(chatbot.state.params),
      created_at: recordTime(chatbot.created_at),
      is_running: chatbot.state.is_running,
      last_error: null,
      webhook_token: null,
    }
  }

  async #partners({ state }: Resource<'chatbot'>) {
    const agent = state.agent === null ? undefined : await this.moment.resources.byStream('agent', state.agent)
    return { agent, database: await this.moment.resources.byStream('database', state.database) }
  }

  /** The record of a knowledge base; secrets of its models are masked. */
  async knowledgeBase(base: Resource<'knowledge_base'>, project?: Resource<'project'>) {
    const { id, state, created_at, updated_at } = base
    const { name, embedding_model, reranking_model, storage, content_columns, metadata_columns, id_column, chunking, params } = state
    return {
      id,
      name,
      project_id: (project ?? (await this.#projectOf(base))).id,
      vector_database: storage?.['database'] ?? null,
      vector_database_table: storage?.['table'] ?? null,
      updated_at: recordTime(updated_at),
      created_at: recordTime(created_at),
      query_id: null,
      embedding_model: embedding_model && maskSecrets(embedding_model),
      reranking_model: reranking_model && maskSecrets(reranking_model),
      metadata_columns,
      content_columns,
      id_column,
      preprocessing: { chunk_size: chunking.size, chunk_overlap: chunking.overlap },
      params: maskSecrets(params),
    }
  }

  /** The record of a connection; its secrets are masked. */
  database(database: Resource<'database'>) {
    const { name, engine, parameters } = database.state
    return {
      id: database.id,
      name,
      type: 'data',
      class_type: 'sql',
      engine,
      permanent: false,
      date_last_update: recordTime(database.updated_at),
      connection_data: maskSecrets(parameters),
    }
  }

  /** The record of a view with its query. */
  async view(view: Resource<'view'>, project?: Resource<'project'>) {
    const query = await shownQuery(this.moment.resources, view, project ?? (await this.#projectOf(view)))
    return { id: view.id, name: view.state.name, query }
  }

  /** The record of a job, its times as texts in UTC. */
  async job(job: Resource<'job'>, project?: Resource<'project'>) {
    const { name, start_at, end_at, next_run_at, schedule, query, if_query } = job.state
    return {
      id: job.id,
      name,
      project: (project ?? (await this.#projectOf(job))).state.name,
      start_at: recordTime(start_at),
      end_at: end_at && recordTime(end_at),
      next_run_at: next_run_at && recordTime(next_run_at),
      schedule_str: schedule?.said ?? null,
      query,
      if_query,
      variables: [],
    }
  }

  /** A run of a job in the form that clients read. */
  jobRun({ state }: Resource<'job'>, project: Resource<'project'>, { started_at, query, end }: RunRecord) {
    return {
      name: state.name,
      project: project.state.name,
      run_start: recordTime(started_at),
      run_end: end && recordTime(end.finished_at),
      error: end?.error ?? null,
      query,
    }
  }

  /** The answer to creating or retraining a model. */
  modelRequest(model: Model, version: ModelVersion) {
    return {
      name: model.name,
      accuracy: version.result?.accuracy ?? null,
      active: answeringVersion(model) === version.version,
      version: version.version,
      status: version.status,
      predict: version.target,
      mindsdb_version: this.version,
      error: version.error,
      fetch_data_query: version.query,
      problem_definition: JSON.stringify(problemDefinition(version)),
    }
  }

  /** The answer to describing a model or one of its attributes. */
  described(place: ModelPlace): NamedRows {
    return describeModelPlace(place, this.version, this.progressOf)
  }

  /** The record of one version of a model. */
  async model(model: Resource<'model'>, version: ModelVersion, project?: Resource<'project'>) {
    return this.#version(model, version, project ?? (await this.#projectOf(model)), await this.#requestTimes(model))
  }

  /** The records of all versions of a model. */
  async versions(model: Resource<'model'>, project: Resource<'project'>) {
    const requested = await this.#requestTimes(model)
    return Promise.all(model.state.versions.map((version) => this.#version(model, version, project, requested)))
  }

  /** The project of a resource, even if it was renamed or deleted since. @throws Problem 404 */
  async #projectOf({ state }: ProjectMember): Promise<Resource<'project'>> {
    const project = await lastKnown(this.moment, 'project', state.project)
    if (!project) throw notFound('project', state.project)
    return project
  }

  /** The times of the requests for a model's trainings, by version. They are in the log alone: states have no times. */
  async #requestTimes({ stream }: Resource<'model'>): Promise<ReadonlyMap<number, string>> {
    const times = new Map<number, string>()
    for await (const { type, data, recorded_at } of streamEventsWith(this.moment, stream, 0, (text) => text.includes(requestedType)))
      if (type === requestedType) times.set(Number(data['version']), recorded_at)
    return times
  }

  async #version(model: Resource<'model'>, version: ModelVersion, project: Resource<'project'>, requested: ReadonlyMap<number, string>) {
    // Progress can still be present for a moment after a training has ended.
    const progress = version.status === 'training' ? this.progressOf?.(model.stream, version.version) : undefined
    return {
      id: model.id,
      name: model.state.name,
      version: version.version,
      is_active: null,
      predict: version.target,
      status: version.status,
      problem_definition: problemDefinition(version),
      current_phase: progress?.phase ?? null,
      ...(progress && { progress }),
      accuracy: version.result?.accuracy ?? null,
      data_source: await databaseOf(this.moment, version, project),
      update: 'up_to_date',
      active: answeringVersion(model.state) === version.version,
      mindsdb_version: this.version,
      error: version.error,
      created_at: recordTime(requested.get(version.version) ?? model.created_at).slice(0, 19),
      fetch_data_query: version.query,
      training_time: version.result?.seconds ?? null,
      recording: model.state.recording,
    }
  }
}

const problemDefinition = ({ target, using }: ModelVersion): JsonObject => ({
  __mdb_sql_task: null,
  target,
  ...(Object.keys(using).length > 0 && { using: maskSecrets(using) }),
})

/** An agent without skills shows `data`, `model` and `prompt_template` beside its params. */
const lifted = ({ data, model, prompt_template, ...rest }: JsonObject) => ({
  ...(Boolean(data) && { data }),
  ...(Boolean(model) && { model }),
  ...(Boolean(prompt_template) && { prompt_template }),
  ...(Object.keys(rest).length > 0 && { params: rest }),
})
