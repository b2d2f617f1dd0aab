import { ConfigError } from '../../setup/config.js'
import { listNodes, type KnownNode } from './nodes.js'
import { refusalToOpen } from './refusal-to-open.js'
import { Link } from './postgres/session.js'
import { areThere } from './postgres/tables.js'

/**
 * The nodes of the shared log at an address. This process need not be one of them.
 *
 * @example (await shownNodes('postgres://db/ledger'))[0]?.state // 'alive'
 * @throws ConfigError when PostgreSQL cannot be reached, or has no log
 */
export const shownNodes = async (url: string): Promise<KnownNode[]> => {
  const link = new Link(url)
  try {
    if (!(await areThere(await link.session()))) throw new ConfigError('LOG_URL: this database has no log yet; the first node makes it')
    return await listNodes(link)
  } catch (error) {
    throw refusalToOpen(error, url)
  } finally {
    await link.close()
  }
}
