import { foldName } from '../../../events/common.js'
import type { Resources } from './log.js'

/**
 * The same resources, found by their names alone, for a text in which digits are never an id, such as a statement.
 *
 * @example await withoutIds(log.resources).one('project', '7') // the project named 7, never the one with the id 7
 */
export const withoutIds = (resources: Resources): Resources => ({
  one: async (kind, ref, project) => {
    const found = await resources.one(kind, ref, project)
    return found && foldName(found.state.name) === foldName(ref) ? found : undefined
  },
  byStream: (kind, stream) => resources.byStream(kind, stream),
  list: (kind, project) => resources.list(kind, project),
  page: (kind, project, after, limit) => resources.page(kind, project, after, limit),
  linkedIds: (kind, to) => resources.linkedIds(kind, to),
  linkedPage: (kind, to, after, limit) => resources.linkedPage(kind, to, after, limit),
})
