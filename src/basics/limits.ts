import { agentLimits } from './limits/agents.js'
import { callLimits } from './limits/calls.js'
import { fileLimits } from './limits/files.js'
import { knowledgeLimits } from './limits/knowledge.js'
import { logLimits } from './limits/log.js'
import { modelLimits } from './limits/models.js'
import { requestLimits } from './limits/requests.js'
import { sqlLimits } from './limits/sql.js'

/**
 * Every limit of the service. The unit comes last in its name. docs/operate/limits.md has a line for each; a test keeps the two in step.
 */
export const limits = {
  ...requestLimits,
  ...logLimits,
  ...sqlLimits,
  ...fileLimits,
  ...modelLimits,
  ...callLimits,
  ...agentLimits,
  ...knowledgeLimits,
} as const

export type LimitName = keyof typeof limits
