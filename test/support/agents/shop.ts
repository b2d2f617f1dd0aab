import { send, sql, startTestService } from '../service.js'
import { contentOf, ScriptedModel } from './scripted-model.js'

/** One event of a stream, as a client reads it. */
export type StreamFrame = Record<string, unknown> & { type: string }

/** The events of a stream of server-sent events, without comments. */
export const framesOf = (text: string): StreamFrame[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as StreamFrame)

/** The service, a scripted model, and agents in the project `shop` that use the model. */
export class AgentShop {
  readonly model = new ScriptedModel()
  #service: Awaited<ReturnType<typeof startTestService>> | undefined

  async start(environment: Record<string, string> = {}): Promise<void> {
    await this.model.start()
    this.#service = await startTestService(environment)
    await this.run('CREATE PROJECT shop')
  }

  /** The data directory. */
  get directory(): string {
    return this.#service?.directory ?? ''
  }

  get url(): string {
    return this.#service?.url ?? ''
  }

  async run(statement: string): Promise<unknown[][]> {
    const answer = await sql(this.url, statement)
    if (answer.type === 'error') throw new Error(answer.error_message)
    return answer.data
  }

  /** Makes an agent; `more` is added to the settings of the scripted model. */
  async agent(name: string, more: object): Promise<void> {
    const { status, body } = await send(this.url, 'POST', '/api/projects/shop/agents', {
      agent: { name, model: this.model.model, ...more },
    })
    if (status !== 201) throw new Error(JSON.stringify(body))
  }

  path(agent: string): string {
    return `/api/projects/shop/agents/${agent}/completions`
  }

  /** Asks an agent over REST. */
  ask(agent: string, question: string, headers: Record<string, string> = {}) {
    return send(this.url, 'POST', this.path(agent), { messages: [{ role: 'user', content: question }] }, headers)
  }

  /** Asks an agent for a stream, and reads it to its end. `hear` gets the text so far whenever more has come. */
  async stream(agent: string, question: string, hear: (text: string) => unknown = () => undefined): Promise<StreamFrame[]> {
    const body = JSON.stringify({ messages: [{ role: 'user', content: question }] })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${this.url}${this.path(agent)}/stream`, { method: 'POST', headers, body })
    let text = ''
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) hear((text += piece))
    return framesOf(text)
  }

  /** The newest events of answers, the last one first. */
  async answers(limit = 1): Promise<Record<string, unknown>[]> {
    const rows = await this.run(`SELECT data FROM log.events WHERE type = 'AgentAnswered' ORDER BY position DESC LIMIT ${limit}`)
    return rows.map(([data]) => (typeof data === 'string' ? JSON.parse(data) : data) as Record<string, unknown>)
  }

  /** The results of tools in all requests to the model; a repeated result occurs again. */
  toolResults(): string[] {
    return this.model.asked.flatMap(({ messages }) => messages.flatMap((message) => (message.role === 'tool' ? [contentOf(message)] : [])))
  }

  async stop(): Promise<void> {
    await this.#service?.stop()
    await this.model.stop()
  }
}
