import type { AskAgent } from './agents/contract/answering.js'
import { opened } from './basics/undo.js'
import type { Fetch } from './chatbots/channels/channel.js'
import { Conversations } from './chatbots/conversations.js'
import { MessageIntake } from './chatbots/message-intake.js'
import type { Storage } from './open-storage.js'
import type { SqlProcess } from './sql-process/sql-process.js'
import type { Logger } from './basics/logger.js'

/** The parts that chatbots need for conversations. */
export type Chatbots = Awaited<ReturnType<typeof openChatbots>>

type Options = { logger: Logger; storage: Storage; sqlProcess: Pick<SqlProcess, 'isReady'>; ask: AskAgent; fetch: Fetch }

/** Opens the conversations of chatbots. `begin` continues the work of an earlier run, and reacts to messages from then on. */
export const openChatbots = ({ logger, storage: { ledger, log, leases, clock }, sqlProcess, ask, fetch }: Options) =>
  opened((undo) => {
    const conversations = new Conversations({ ledger, log, leases, ask, fetch, clock, logger, hasSql: () => sqlProcess.isReady })
    undo(() => conversations.stop())
    return { conversations, intake: new MessageIntake({ ledger, log, conversations }), fetch, begin: () => conversations.start() }
  })
