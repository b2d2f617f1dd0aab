import { AnswerRecords } from './agents/record/answer-records.js'
import { AnswerJudge } from './agents/record/judge-answer.js'
import { Reruns } from './agents/rerun/reruns.js'
import type { Route } from './http/protocol/route.js'
import type { ReadRouteFactory } from './http/reads/read-routes.js'
import type { Records } from './http/reads/records.js'
import { answerRoutes } from './http/routes/answers.js'
import { completionRoutes } from './http/routes/completions.js'
import { conversationRoutes } from './http/routes/conversations/conversations.js'
import { messageRoutes } from './http/routes/conversations/messages.js'
import { webhookRoutes } from './http/routes/conversations/webhooks.js'
import { rerunRoutes } from './http/routes/reruns.js'
import { agentRoutes } from './http/routes/resources/agents.js'
import { chatbotRoutes } from './http/routes/resources/chatbots.js'
import { skillRoutes } from './http/routes/resources/skills.js'
import type { Parts } from './route-parts.js'

type Shared = { reading: ReadRouteFactory; records: Records }

/** The routes for agents with their skills and answers, and for chatbots with their conversations. */
export const routesOfAgents = (parts: Parts, { reading, records }: Shared): Route[] => {
  const { ledger, log, vault } = parts.storage
  const { agents, check: checkModel } = parts.agents
  const { intake, fetch } = parts.chatbots
  const { sql } = parts.sql
  const { beside } = parts.housekeeping.erasures
  const answers = new AnswerRecords({ log, readRows: (query, client) => sql.reader.rowsNow(query, client) })
  const judge = new AnswerJudge({ ledger, records: answers, beside })
  const reruns = new Reruns({
    ...{ ledger, log, records: answers, ask: agents.ask, beside },
    resourcesAt: (position, client) => sql.reader.resourcesAt(position, client),
  })
  return [
    ...skillRoutes(ledger, records, reading),
    ...answerRoutes({ ledger, log, reading, records: answers, judge }),
    ...rerunRoutes({ log, reruns, sql }),
    ...agentRoutes({ ledger, records, reading, checkModel }),
    ...completionRoutes(log, agents),
    ...chatbotRoutes({ ledger, log, records, reading }),
    ...conversationRoutes(ledger, log),
    ...messageRoutes(log, intake),
    ...webhookRoutes({ log, vault, intake, fetch }),
  ]
}
