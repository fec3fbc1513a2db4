import type { MethodTable } from './core/dispatch.js'

/** The method table that the module at the URL exports as `METHODS`; Cairn's own without a URL. */
export async function loadMethods(url: string | undefined): Promise<MethodTable> {
  const { METHODS } =
    url === undefined ? await import('./methods.js') : ((await import(url)) as { METHODS: MethodTable })
  return METHODS
}
