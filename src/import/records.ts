import * as z from 'zod'
import { jsonObject, text } from '../../events/common.js'

// The records of MindsDB's API, which this service shares. Unknown members are ignored.

const params = jsonObject.nullish().transform((value) => value ?? {})
const named = { name: z.string() }

export const projectRecord = z.looseObject(named)
export const connectionRecord = z.looseObject({
  ...named,
  type: z.string().nullish(),
  engine: text.nullish(),
  connection_data: params,
})
export const fileRecord = z.looseObject({ ...named, row_count: z.number().nullish(), columns: z.array(z.string()).nullish() })
export const viewRecord = z.looseObject({ ...named, query: text })
export const skillRecord = z.looseObject({ ...named, type: text, params })
export const agentRecord = z.looseObject({
  ...named,
  model_name: text.nullish(),
  provider: text.nullish(),
  skills: z
    .array(skillRecord)
    .nullish()
    .transform((skills) => skills ?? []),
  skills_extra_parameters: z.record(z.string(), jsonObject.nullable()).nullish(),
  data: jsonObject.nullish(),
  model: z.union([jsonObject, text]).nullish(),
  prompt_template: text.nullish(),
  params,
})
export const chatbotRecord = z.looseObject({
  ...named,
  agent: z.looseObject(named).nullish(),
  database: text.nullish(),
  model_name: text.nullish(),
  is_running: z.boolean().nullish(),
  params,
})
export const jobRecord = z.looseObject({
  ...named,
  query: text,
  if_query: text.nullish(),
  schedule_str: text.nullish(),
  start_at: text.nullish(),
  next_run_at: text.nullish(),
  end_at: text.nullish(),
})

/** Rows of tables that contain more information than the lists of REST. */
export const engineRow = z.looseObject({ ...named, handler: z.string() })
export const placeRow = z.looseObject({ ...named, project: z.string() })
export const modelRow = z.looseObject({
  ...named,
  project: z.string(),
  engine: z.string().nullish(),
  version: z.coerce.number(),
  active: z.boolean().nullish(),
  predict: z.string().nullish(),
  select_data_query: text.nullish(),
  training_options: z.union([text, jsonObject]).nullish(),
})

export type ConnectionRecord = z.infer<typeof connectionRecord>
export type FileRecord = z.infer<typeof fileRecord>
export type ViewRecord = z.infer<typeof viewRecord>
export type SkillRecord = z.infer<typeof skillRecord>
export type AgentRecord = z.infer<typeof agentRecord>
export type ChatbotRecord = z.infer<typeof chatbotRecord>
export type JobRecord = z.infer<typeof jobRecord>
export type EngineRow = z.infer<typeof engineRow>
export type ModelRow = z.infer<typeof modelRow>
