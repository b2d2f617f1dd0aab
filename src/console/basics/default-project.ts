import { json } from '../api/request.js'

let known: string | undefined

/** Asks the service for the name of its default project, unless it is known. @throws ApiError */
export const loadDefaultProject = async (): Promise<void> => {
  known ??= (await json<{ default_project: string }>('status')).default_project
}

/** The project of statements and resources that name none. The frame loads it before it shows a page. */
export const defaultProject = (): string => known ?? ''
