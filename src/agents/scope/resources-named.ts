import type { Resource, Resources } from '../../log/contract/log.js'
import { fits, isPattern } from '../../catalogue/names.js'
import { everyResource } from '../../log/read/every-resource.js'

/** Kinds that agents name. */
type NamedKind = 'view' | 'file' | 'model' | 'knowledge_base'

type NameScope = { project?: Resource<'project'> | undefined; most: number }

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
  for await (const found of everyResource(resources, kind, project)) {
    if (all.length >= most) break
    if (fits(pattern, found.state.name)) all.push(found)
  }
  return all
}
