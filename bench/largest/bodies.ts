import { limits } from '../../src/basics/limits.js'
import { webhookHeaders } from '../../test/support/chatbots/signed.js'
import { predictionId, webhookSecret } from './prepare.js'
import { manyTokens, values, type Maker } from './texts.js'

/** A body, its media type, and other headers, which may sign it. */
export type Body = {
  name: string
  text: Maker
  type?: string
  headers?: Record<string, string>
  signed?: (body: string) => Record<string, string>
}

const json = (name: string, text: Maker): Body => ({ name, text })
const statement = manyTokens('SELECT [', "'ab',", 2, "'ab'] AS list")
const most = limits.resourceBodyMaxValues - 100
const characters = (part: string): Maker => {
  // Leaves some room for the rest of the body.
  const count = Math.floor((limits.resourceBodyMaxBytes - 10_000) / Buffer.byteLength(JSON.stringify(part).slice(1, -1)))
  return (share) => part.repeat(Math.ceil(share * count))
}

/** A text of this many characters. */
const long =
  (count: number): Maker =>
  (share) =>
    'a b '.repeat(Math.floor((share * count) / 4))

/** The ways in which the params of a resource can reach their largest size. */
const params: Readonly<Record<string, Maker>> = {
  // Some bodies have two more params beside these.
  keys: (share) => `{${values(limits.objectMaxKeys - 2, (n) => `"k${n}":1`)(share)}}`,
  objects: (share) => `{"a":[${values(most >> 1, (n) => `{"k${n}":1}`)(share)}]}`,
  texts: (share) => `{"a":[${values(most - 100, () => '"a b=c d"')(share)}]}`,
  secrets: (share) => `{"a":[${values(limits.secretsMaxPerCommand, () => '{"token":"x"}')(share)}]}`,
  'one text': (share) => `{"a":"${characters('a b = c ')(share)}"}`,
  'a text of URLs': (share) => `{"a":"${characters('a://b:c ')(share)}"}`,
  'JSON in a text': (share) => `{"a":${JSON.stringify(`[${characters('1,')(share)}1]`)}}`,
}

/** Bodies for a kind of resource. Each has a new name, so that the service carries out all of them. */
const resource = (kind: string, rest: string, field = 'params'): Body[] =>
  Object.entries(params).map(([of, text], n) =>
    json(`${kind} of ${of}`, (share) => `{"${kind}":{"name":"large_${kind}_${n}",${rest}"${field}":${text(share)}}}`),
  )
/** The same for an existing resource, once with each of the largest params. */
const change = (kind: string, field = 'params'): Body[] =>
  Object.entries(params).map(([of, text]) => json(`${kind} with ${of}`, (share) => `{"${kind}":{"${field}":${text(share)}}}`))

const row = (columns: number) => (n: number) => `{${values(columns, (column) => `"c${column}":${n}`)(1)}}`
const horsepower = (n: number) => `{"Horsepower":${n % 200}}`
const origins = ['USA', 'Europe', 'Japan']
const outcome = (n: number) => `{"request":"${predictionId}","row":${n},"truth":"${origins[n % 3]}"}`
const many = limits.bodyMaxValues - 100_000

const statementOf = (kind: string, rest = ''): Maker => {
  return (share) => `{"${kind}":{"name":"large_${kind}","query":${JSON.stringify(statement(share))}${rest}}}`
}
const rollback = json('an early version', () => '{"version":1}')
/** A file of a million rows. Streamed uploads have no limit here; this is long enough to see whether they block. */
const csv: Maker = (share) => `a,b,c\n${'1,some text,2.5\n'.repeat(Math.ceil(1_000_000 * share))}`

const messages = values(998, (n) => `{"role":"${n % 2 === 0 ? 'user' : 'assistant'}","content":"${'a b '.repeat(500)}"}`)
const chats: readonly Body[] = [
  json('messages', (share) => `{"messages":[${messages(share)},{"role":"user","content":"c"}]}`),
  json('a long question', (share) => `{"messages":[{"role":"user","content":"${long(limits.agentQuestionMaxChars)(share)}"}]}`),
]
const said: readonly Body[] = [
  json('a long text', (share) => `{"text":"${long(limits.messageMaxChars)(share)}"}`),
  json('a text that is too long', (share) => `{"text":"${characters('a b ')(share)}"}`),
]
let webhooks = 0
const signed = (body: string) => webhookHeaders(webhookSecret, `message-${webhooks++}`, body)
const posted: readonly Body[] = [
  { ...json('a long text', (share) => `{"conversation":"room","text":"${long(limits.messageMaxChars)(share)}"}`), signed },
  { ...json('a text that is too long', (share) => `{"conversation":"room","text":"${characters('a b ')(share)}"}`), signed },
]

const mcpHeaders = { accept: 'application/json, text/event-stream' }
const mcp = (name: string, tool: string, args: (share: number) => object): Body => ({
  ...json(name, (share) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args(share) } })),
  headers: mcpHeaders,
})

const projects = '/api/projects/{project}'
const model = `${projects}/models/{model}`

/** Bodies by the method and path of their route. Every route that takes a body must be here. */
export const bodies: Readonly<Record<string, readonly Body[]>> = {
  'POST /api/login': [json('a long password', (share) => `{"password":"${'x'.repeat(share * (limits.smallBodyMaxBytes - 100))}"}`)],
  'POST /api/projects': [
    json('the longest name', () => `{"project":{"name":"${'a'.repeat(limits.nameMaxChars)}"}}`),
    json('a name that is too long', (share) => `{"project":{"name":"${characters('a')(share)}"}}`),
  ],
  [`POST ${projects}/skills`]: resource('skill', '"type":"sql",'),
  [`PUT ${projects}/skills/{skill}`]: change('skill'),
  [`POST ${projects}/agents`]: [
    ...resource('agent', '"model_name":"m",'),
    json('skills', (share) => `{"agent":{"name":"x","model_name":"m","skills":[${values(most, () => '"s"')(share)}]}}`),
  ],
  [`PUT ${projects}/agents/{agent}`]: change('agent'),
  [`POST ${projects}/agents/{agent}/completions`]: chats,
  [`POST ${projects}/agents/{agent}/completions/stream`]: chats,
  [`POST ${projects}/agents/{agent}/answers/{answer}/rerun`]: [
    json('a long prompt', (share) => `{"prompt":"${long(limits.agentQuestionMaxChars)(share)}"}`),
  ],
  [`POST ${projects}/agents/{agent}/reruns`]: [
    json('many answers', (share) => `{"answers":[${values(limits.rerunAnswersMax, (n) => `"${n}"`)(share)}]}`),
    json('a query for answers', () => `{"query":"SELECT answer_id FROM log.answers"}`),
    json(
      'a long query',
      (share) => `{"query":"${'SELECT answer_id FROM log.answers -- '.padEnd(share * limits.rerunQueryMaxChars, 'a ')}"}`,
    ),
  ],
  [`POST ${projects}/agents/{agent}/answers/{answer}/feedback`]: [
    json('a long comment', (share) => `{"verdict":"good","comment":"${long(limits.answerCommentMaxChars)(share)}"}`),
  ],
  [`POST ${projects}/knowledge_bases`]: resource('knowledge_base', '', 'params'),
  [`PUT ${projects}/knowledge_bases/{base}`]: [
    json('rows', (share) => `{"knowledge_base":{"rows":[${values(most >> 1, (n) => `{"content":"a b ${n}"}`)(share)}]}}`),
    json('a long document', (share) => `{"knowledge_base":{"rows":[{"content":"${characters('a b ')(share)}"}]}}`),
  ],
  [`POST ${projects}/knowledge_bases/{base}/completions`]: [
    json('a long question', (share) => `{"query":"${long(limits.knowledgeQueryMaxWords * 2)(share)}","type":"context"}`),
  ],
  [`POST ${projects}/knowledge_bases/{knowledge_base}/rollback`]: [rollback],
  [`POST ${projects}/chatbots/{chatbot}/messages`]: said,
  [`POST ${projects}/chatbots/{chatbot}/messages/stream`]: said,
  'POST /api/webhooks/chatbots/{token}': posted,
  'POST /api/mcp': [
    mcp('a long statement', 'query', (share) => ({ query: statement(share) })),
    mcp('a batch of rows to predict', 'predict', (share) => ({
      model: 'cars_model',
      rows: Array.from({ length: 1_000 * share }, (_, n) => ({ Horsepower: n % 200 })),
    })),
  ],
  [`POST ${projects}/chatbots`]: resource('chatbot', '"database_name":"chat","agent_name":"helper",'),
  [`PUT ${projects}/chatbots/{chatbot}`]: change('chatbot'),
  [`POST ${projects}/views`]: [json('a list', statementOf('view'))],
  [`PUT ${projects}/views/{view}`]: [json('a list', statementOf('view'))],
  [`POST ${projects}/jobs`]: [json('a list', statementOf('job', ',"start_at":"2099-01-01"'))],
  'POST /api/databases': resource('database', '"engine":"slack",', 'parameters'),
  'POST /api/databases/status': [json('keys', (share) => `{"engine":"slack",${params['keys']?.(share).slice(1) ?? ''}`)],
  'PUT /api/databases/{database}': change('database', 'parameters'),
  'POST /api/databases/{database}/tables': [
    json('a list', (share) => `{"table":{"name":"listed","select":${JSON.stringify(statement(share))}}}`),
  ],
  'PUT /api/files/{file}': [
    { name: 'rows', type: 'text/csv', text: csv },
    {
      name: 'rows in a form',
      type: 'multipart/form-data; boundary=x',
      text: (share) =>
        `--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n${csv(share)}\r\n--x--\r\n`,
    },
  ],
  'PUT /api/config': [json('keys', (share) => `{"default_llm":${params['keys']?.(share) ?? ''}}`)],
  'POST /api/log/erasures': [
    json('everything so far', () => `{"before":"${new Date().toISOString()}","dry_run":true}`),
    json('a request', (share) => `{"request":"${characters('a')(share / 2)}"}`),
  ],
  'POST /api/log/rotations': [json('a new key', () => '{}')],
  [`POST ${projects}/models`]: [
    json(
      'rows to learn from',
      (share) => `{"query":"CREATE MODEL wide_model PREDICT c0 USING engine = 'constant'","data":[${values(60_000, row(10))(share)}]}`,
    ),
  ],
  [`PUT ${model}`]: [json('keys', (share) => `{"model":{"recording":"all",${params['keys']?.(share).slice(1) ?? ''}}`)],
  [`POST ${model}/predict`]: [
    json(
      'rows',
      (share) => `[${values(limits.predictMaxRows, (n) => `{"Horsepower":${n % 200},"Weight_in_lbs":${2000 + n},"Origin":"USA"}`)(share)}]`,
    ),
    json('rows in a text', (share) => JSON.stringify({ data: `[${values(limits.predictMaxRows, horsepower)(share)}]` })),
    json('values', (share) => `[${values(limits.predictMaxRows, row(90))(share)}]`),
    json('columns', (share) => `{"data":{"Horsepower":[${values(limits.predictMaxRows, () => '1')(share)}]}}`),
    json(
      'explained rows',
      (share) => `{"data":[${values(limits.explainMaxRows, horsepower)(share)}],"params":{"explain":"contributions"}}`,
    ),
  ],
  [`POST ${model}/outcomes`]: [json('outcomes', (share) => `{"outcomes":[${values(limits.outcomesMaxRows, outcome)(share)}]}`)],
  ...Object.fromEntries(
    [
      ...['skills/{skill}', 'agents/{agent}', 'chatbots/{chatbot}', 'views/{view}', 'jobs/{job}'].map((one) => `${projects}/${one}`),
      ...[model, '/api/databases/{database}', '/api/files/{file}'],
    ].map((path) => [`POST ${path}/rollback`, [rollback]]),
  ),
  'POST /api/sql/query': [
    json('parameters', (share) => `{"query":"SELECT 1","params":[${values(limits.statementMaxParams, () => '1')(share)}]}`),
    json('a large parameter', (share) => `{"query":"SELECT length(:a)","params":{"a":"${'x'.repeat(share * 9_000_000)}"}}`),
    json('values in a context', (share) => `{"query":"SELECT 1","context":{"x":[${values(many, () => '1')(share)}]}}`),
  ],
}
