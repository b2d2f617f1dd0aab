import type { FixtureResponse } from '@copilotkit/aimock'
import { contentOf, questionOf, ScriptedModel, type Asked } from '../agents/scripted-model.js'

/** What an agent says to a question; the texts before it are what was said earlier. */
export type Script = (question: string, earlier: readonly string[]) => string | FixtureResponse | Promise<string | FixtureResponse>

/** What was said in a conversation before its last question, without what the service tells the model by itself. */
const earlierIn = ({ messages }: Asked): string[] =>
  messages.flatMap((message) => (message.role === 'system' ? [] : [contentOf(message)])).slice(0, -1)

/** The language model of an agent, which says what a test tells it to. */
export class ScriptedAgent {
  /** Every question that it was asked, in order. */
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

  /** The body that makes an agent that asks it. */
  named(name: string): { agent: object } {
    return { agent: { name, model: this.#model.model } }
  }
}
