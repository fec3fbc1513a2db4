import type { MethodTable } from './core/method.js'

/** The method table exported as `METHODS` by the module at the URL; Cairn's own without a URL. */
export async function loadMethods(url: string | undefined): Promise<MethodTable> {
  const { METHODS } =
    url === undefined ? await import('./methods.js') : ((await import(url)) as { METHODS: MethodTable })
  return METHODS
}
