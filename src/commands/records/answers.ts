import type { Command } from '@event-driven-io/emmett'
import {
  answersStream,
  type AgentAnswered,
  type AgentEvaluated,
  type AnswerJudged,
  type AnswersEvent,
} from '../../../events/records/answers.js'
import type { NewEvent } from '../../log/contract/log.js'
import type { Decisions } from '../rules/decider.js'

export type AnswersCommand =
  Command<'RecordAnswer', AgentAnswered> | Command<'JudgeAnswer', AnswerJudged> | Command<'RecordEvaluation', AgentEvaluated>

const eventOf = ({ type, data }: AnswersCommand): AnswersEvent => {
  if (type === 'RecordAnswer') return { type: 'AgentAnswered', data }
  return type === 'JudgeAnswer' ? { type: 'AnswerJudged', data } : { type: 'AgentEvaluated', data }
}

/** Decides the records of agents. An answer is recorded even if the agent was deleted meanwhile, because a client gets it. */
export const answersDecisions: Decisions<AnswersCommand, object> = {
  commands: { RecordAnswer: 'record', JudgeAnswer: 'record', RecordEvaluation: 'record' },
  secrets: [],
  reads: () => ({}),
  decide: (command): NewEvent[] => [{ stream: answersStream(command.data.agent), event: eventOf(command) }],
}
