import type { FixtureResponse } from '@copilotkit/aimock'
import { contentOf, questionOf, ScriptedModel, type Asked } from '../agents/scripted-model.js'

/** The answer of an agent to a question; the other texts are the earlier messages. */
export type Script = (question: string, earlier: readonly string[]) => string | FixtureResponse | Promise<string | FixtureResponse>

/** The earlier messages of a conversation, without those that the service adds for the model. */
const earlierIn = ({ messages }: Asked): string[] =>
  messages.flatMap((message) => (message.role === 'system' ? [] : [contentOf(message)])).slice(0, -1)

/** The language model of an agent, whose answers a test chooses. */
export class ScriptedAgent {
  /** Every question to the model, in order. */
  readonly asked: string[] = []
  readonly #model = new ScriptedModel()

  constructor(private script: Script = (question) => `You said: ${question}`) {
    this.#model.script = (asked) => {
      const question = questionOf(asked)
      this.asked.push(question)
      return this.script(question, earlierIn(asked))
    }
  }

  says(script: Script): void {
    this.script = script
  }

  start(): Promise<void> {
    return this.#model.start()
  }

  stop(): Promise<void> {
    return this.#model.stop()
  }

  /** The request body for an agent with this model. */
  named(name: string): { agent: object } {
    return { agent: { name, model: this.#model.model } }
  }
}
