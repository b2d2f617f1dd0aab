import { v7 as uuidv7 } from 'uuid'
import { unfitJson, type Json } from '../../events/common.js'
import { wrong } from '../errors.js'
import type { Log, Origin, Outcome } from '../log/log.js'
import { hasUrlPassword } from '../vault/secret-keys.js'
import { sealSecrets } from '../vault/secrets.js'
import type { SealedPayload, Vault } from '../vault/vault.js'
import { handlers, type LedgerCommand } from './dispatch.js'

/** With an idempotency key, and the whole request that it stands for. */
export type Execution = { idempotency?: { key: string; request: string } }

/** Where secrets can stand in a command. */
const secretFields = new Set(['params', 'parameters', 'using'])
/** Free texts that the log keeps as they are. */
const plainFields = new Set(['model_name', 'provider', 'type', 'query'])

const refuseUrlPassword = (key: string, member: Json): void => {
  if (plainFields.has(key) && typeof member === 'string' && hasUrlPassword(member))
    throw wrong(
      `${key} holds a URL with a password, which everybody could read there`,
      'Keep it where it is encrypted: in params, or in a connection (CREATE DATABASE).',
    )
}

const withoutSecrets = (vault: Vault, value: Json, payloads: SealedPayload[]): Json => {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(vault, item, payloads))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      refuseUrlPassword(key, member)
      if (!secretFields.has(key)) return [key, withoutSecrets(vault, member, payloads)]
      const sealed = sealSecrets(vault, member)
      payloads.push(...sealed.payloads)
      return [key, sealed.value]
    }),
  )
}

/**
 * Takes commands, whoever sends them: checks their text, seals their secrets, and hands them to the log's drain.
 *
 * @example await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
 */
export class Ledger {
  constructor(
    readonly log: Log,
    readonly vault: Vault,
  ) {}

  /** @throws Problem when the command is refused; nothing is recorded then */
  async execute(command: LedgerCommand, origin: Origin, { idempotency }: Execution = {}): Promise<Outcome> {
    const unfit = unfitJson(command.data)
    if (unfit) throw wrong(`${unfit[0]} ${unfit[1]}`.trim())
    const payloads: SealedPayload[] = []
    const sealed = { ...command, data: withoutSecrets(this.vault, command.data, payloads) } as LedgerCommand
    const { subject, reads, decide } = handlers[command.type]
    const newStream = uuidv7()
    return this.log.submit({
      origin,
      lookups: reads(sealed),
      decide: (facts) => {
        const found = facts[subject]
        const stream = isFound(found) ? found.stream : newStream
        return decide(sealed, facts).map((event) => ('event' in event ? event : { stream, event }))
      },
      payloads,
      ...this.#keyed(idempotency),
    })
  }

  /**
   * The outcome of a request that was carried out before under the same key; for those that have work to do, or something
   * to refuse, before there is a command.
   * @throws Problem 422 when the key came with another request
   */
  repeated(origin: Origin, { idempotency }: Execution): Promise<Outcome | undefined> {
    return this.log.repeated({ origin, ...this.#keyed(idempotency) })
  }

  #keyed(idempotency: Execution['idempotency']) {
    return idempotency && { idempotency: { key: idempotency.key, fingerprint: this.vault.fingerprint(idempotency.request) } }
  }
}

const isFound = (fact: unknown): fact is { stream: string } => typeof fact === 'object' && fact !== null && 'stream' in fact
