import type { Resource, Resources } from '../../log/contract/log.js'
import { fits, isPattern } from '../../catalogue/names.js'

/** Kinds that agents name. */
type NamedKind = 'view' | 'file' | 'model' | 'knowledge_base'

type NameScope = { project?: Resource<'project'> | undefined; most: number }

const listedPage = 1_000

/**
 * The first resources of a kind whose names match a pattern. If the pattern is a plain name, this is one look-up.
 *
 * @example await resourcesNamed(resources, 'view', 'sales_*', { project, most: 100 })
 */
export const resourcesNamed = async <K extends NamedKind>(
  resources: Pick<Resources, 'one' | 'page'>,
  kind: K,
  pattern: string,
  { project, most }: NameScope,
): Promise<Resource<K>[]> => {
  if (!isPattern(pattern)) {
    const found = await resources.one(kind, pattern, project)
    // A reference in digits may be an id: only names count here.
    return found && fits(pattern, found.state.name) ? [found] : []
  }
  const all: Resource<K>[] = []
  for (let after = 0; all.length < most;) {
    const page = await resources.page(kind, project, after, listedPage)
    all.push(...page.filter(({ state }) => fits(pattern, state.name)))
    const last = page.at(-1)
    if (!last || page.length < listedPage) break
    after = last.id
  }
  return all.slice(0, most)
}
