import { isInProject, type Kind } from '../../../events/catalogue/catalogue.js'
import { LongWork } from '../../basics/long-work.js'
import type { Resource, Resources } from '../contract/log.js'

const resourcesAtOnce = 100

/**
 * All resources of a kind, or those in a project, in order of creation in each project. They are read in pages, and other work can run in
 * between, because their number is unlimited.
 *
 * @example for await (const { state } of everyResource(log.resources, 'file')) names.push(state.name)
 */
export async function* everyResource<K extends Kind>(
  resources: Pick<Resources, 'page'>,
  kind: K,
  project?: Resource<'project'>,
): AsyncGenerator<Resource<K>, void, void> {
  if (isInProject(kind) && !project) {
    for await (const each of everyResource(resources, 'project')) yield* everyResource(resources, kind, each)
    return
  }
  const work = new LongWork()
  for (let after = 0; ;) {
    const page = await resources.page(kind, project, after, resourcesAtOnce)
    for (const found of page) {
      yield found
      await work.pause()
    }
    const last = page.at(-1)
    if (!last) return
    after = last.id
  }
}
