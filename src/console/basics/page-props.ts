/** The props of a page: the named parts of its path. */
export type PageProps = { params: Record<string, string> }
