import type { AskAgent } from '../agents/contract/answering.js'
import type { PredictionService } from '../models/serving/prediction-service.js'
import type { Moment } from '../http/reads/read-routes.js'
import type { Histories } from '../log/read/history.js'
import type { SqlEngine } from '../sql/facade/execute.js'
import type { Tool } from './tool-parts/tool.js'
import { askAgentTool } from './tools/ask-agent.js'
import { describeTool } from './tools/describe.js'
import { dryRunTool } from './tools/dry-run.js'
import { historyTool } from './tools/history.js'
import { listTool } from './tools/list.js'
import { predictTool } from './tools/predict.js'
import { queryTool } from './tools/query.js'
import { searchKnowledgeTool, type Knowledge } from './tools/search-knowledge.js'

/** The parts of the service that tools use. Without `ask` the tools cannot ask agents, and without `knowledge` they cannot search. */
export type ToolParts = {
  sql: Pick<SqlEngine, 'execute'>
  /** Resources in their present state. */
  moment: Moment
  histories: Histories
  predicting: PredictionService
  ask?: AskAgent | undefined
  knowledge?: Knowledge | undefined
  defaultProject: string
  /** Whether `query` accepts writing statements. */
  writes: boolean
}

/** The tools for clients of MCP. */
export const toolsOf = ({ sql, moment, histories, predicting, ask, knowledge, defaultProject, writes }: ToolParts): Tool[] => {
  const reads = { sql, moment, defaultProject }
  return [
    queryTool(sql, { writes }),
    listTool(reads),
    describeTool(reads),
    historyTool({ moment, histories, defaultProject }),
    predictTool(predicting, defaultProject),
    ...(ask ? [askAgentTool(ask, moment, defaultProject)] : []),
    ...(knowledge ? [searchKnowledgeTool(knowledge, defaultProject)] : []),
    dryRunTool(sql),
  ]
}
