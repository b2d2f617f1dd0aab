import { limits } from '../../basics/limits.js'
import { linesIn } from '../../mcp/relay/lines.js'
import { Relay } from '../../mcp/relay/relay.js'
import { ConfigError } from '../../setup/config.js'
import { runningServer, type CommandConfig } from '../access/server.js'

/** The running server. @throws ConfigError when there is none */
const server = async (config: CommandConfig) => {
  const found = await runningServer(config)
  if (found) return found
  throw new ConfigError(`no server holds ${config.dataDirectory}. Start one (mindledger serve), or name its address: --url.`)
}

/**
 * `mindledger mcp`: the Model Context Protocol on standard input and output, for clients that start a program. It relays to the running
 * server, and finds the server again after a restart. It writes only messages of the protocol to standard output.
 */
export const mcp = async (config: CommandConfig): Promise<number> => {
  const relay = new Relay(
    () => server(config),
    (line) => void process.stdout.write(`${line}\n`),
  )
  for await (const line of linesIn(process.stdin, limits.bodyMaxBytes)) {
    if ('text' in line) relay.take(line.text)
    else relay.refuseLong()
  }
  await relay.done()
  return 0
}
