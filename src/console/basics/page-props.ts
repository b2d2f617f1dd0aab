/** What a page gets: the parts of its path that its pattern names. */
export type PageProps = { params: Record<string, string> }
