/** Every option of every command: `value` is the name of its argument in the help. */
export const options = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  quiet: { type: 'boolean', short: 'q' },
  url: { type: 'string', value: 'address' },
  create: { type: 'boolean' },
  copy: { type: 'boolean' },
  lost: { type: 'boolean' },
  db: { type: 'string', value: 'name' },
  'as-of': { type: 'string', value: 'when' },
  csv: { type: 'boolean' },
  vertical: { type: 'boolean', short: 'x' },
  from: { type: 'string', value: 'where' },
  to: { type: 'string', value: 'where' },
  forget: { type: 'string', value: 'id' },
  follow: { type: 'boolean', short: 'f' },
  head: { type: 'string', multiple: true, value: 'file' },
  key: { type: 'boolean' },
  json: { type: 'boolean' },
  'new-key': { type: 'boolean' },
  vkey: { type: 'string', value: 'key or file' },
  proof: { type: 'string', value: 'file' },
  event: { type: 'string', value: 'file' },
  parquet: { type: 'string', value: 'place' },
  into: { type: 'string', value: 'path' },
  until: { type: 'string', value: 'position' },
  like: { type: 'string', value: 'backup' },
  erasures: { type: 'string', value: 'file' },
  project: { type: 'string', multiple: true, value: 'name' },
  rows: { type: 'string', value: 'number' },
  all: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  apply: { type: 'boolean' },
  train: { type: 'boolean' },
  shared: { type: 'boolean' },
  reason: { type: 'string', value: 'text' },
  'content-version': { type: 'string', value: 'number' },
  query: { type: 'string', value: 'select' },
  'agent-version': { type: 'string', value: 'number' },
  model: { type: 'string', value: 'name' },
  'prompt-file': { type: 'string', value: 'file' },
  provider: { type: 'string', value: 'name' },
  replay: { type: 'string', value: 'what' },
  'live-tools': { type: 'boolean' },
} as const

export type OptionName = keyof typeof options

/** The values of the options. */
export type Values = {
  [Name in OptionName]?: (typeof options)[Name] extends { multiple: true }
    ? string[]
    : (typeof options)[Name]['type'] extends 'string'
      ? string
      : boolean
}
