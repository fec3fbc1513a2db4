import { defineMethod, type Method } from '../core/method.js'

/** `rpc_modules` over the methods that `methods` returns when called. */
export function createModules(methods: () => readonly Method[]): Method {
  return defineMethod({
    name: 'rpc_modules',
    summary: 'Namespaces of this server, each with its version.',
    cost: 'point',
    classes: ['node'],
    params: [],
    result: { name: 'modules', schema: { type: 'object', additionalProperties: { type: 'string' } } },
    errors: [],
    handler: () => listModules(methods()),
  })
}

/** Namespaces in alphabetical order, in geth's form, where the version has always been 1.0. */
function listModules(methods: readonly Method[]): { [family: string]: string } {
  const families = new Set(methods.map(({ name }) => name.split('_')[0]))
  return Object.fromEntries([...families].sort().map((family) => [family, '1.0']))
}
