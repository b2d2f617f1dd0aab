import { LLMock, type ChatCompletionRequest, type FixtureResponse } from '@copilotkit/aimock'

export type Asked = ChatCompletionRequest

/** The answer of a model to a request; a text is its final answer. */
export type Script = (asked: Asked) => string | FixtureResponse | Promise<string | FixtureResponse>

/** The text of one message of a request. */
export const contentOf = ({ content }: { content: Asked['messages'][number]['content'] }): string =>
  typeof content === 'string'
    ? content
    : (content ?? []).map((part) => ('text' in part && typeof part.text === 'string' ? part.text : '')).join('')

/** The question of a request: the last message of a user. */
export const questionOf = ({ messages }: Asked): string => contentOf(messages.findLast(({ role }) => role === 'user') ?? { content: '' })

/** The results of tools since the question, in order. */
export const resultsOf = ({ messages }: Asked): string[] => {
  const from = messages.findLastIndex(({ role }) => role === 'user')
  return messages.slice(from + 1).flatMap((message) => (message.role === 'tool' ? [contentOf(message)] : []))
}

/** One call of a tool. */
export const calls = (...tools: readonly (readonly [name: string, input: object | string])[]): FixtureResponse => ({
  toolCalls: tools.map(([name, input]) => ({ name, arguments: typeof input === 'string' ? input : JSON.stringify(input) })),
})

/** A model that runs one query for a question, and then answers with a text. */
export const queries =
  (sqlFor: (question: string) => string, say = 'Here it is.'): Script =>
  (asked) =>
    resultsOf(asked).length === 0 ? calls(['sql', { query: sqlFor(questionOf(asked)) }]) : say

/** A server of language models with OpenAI's API, whose answers a test chooses. */
export class ScriptedModel {
  readonly server = new LLMock({ port: 0, chunkSize: 4 })
  readonly asked: Asked[] = []
  script: Script = () => 'Hello.'

  constructor() {
    this.server.on({ predicate: () => true }, async (asked) => {
      this.asked.push(asked)
      const answer = await this.script(asked)
      return typeof answer === 'string' ? { content: answer } : answer
    })
  }

  async start(): Promise<void> {
    await this.server.start()
  }

  async stop(): Promise<void> {
    await this.server.stop()
  }

  /** The settings of an agent that uses this server. */
  get model(): { provider: string; model_name: string; base_url: string; api_key: string } {
    return { provider: 'openai_compatible', model_name: 'scripted', base_url: `${this.server.url}/v1`, api_key: 'sk-scripted-1234567890' }
  }
}
