import { explainLogs } from './cairn/explainLogs.js'
import type { MethodTable } from './core/dispatch.js'
import type { Method } from './core/method.js'
import { packageVersion } from './core/openContext.js'
import { ETH_METHODS } from './eth/methods.js'
import { requiringChain } from './eth/requireChain.js'
import { createDiscover } from './rpc/discover.js'
import { createModules } from './rpc/modules.js'
import { STARKNET_METHODS } from './starknet/methods.js'

/** Every method of the server, by family. */
export const ALL_METHODS: readonly Method[] = [
  ...ETH_METHODS,
  ...STARKNET_METHODS,
  requiringChain(explainLogs),
  createModules(() => ALL_METHODS),
  createDiscover(() => ALL_METHODS, packageVersion()),
]

/** Every method of the server, by name. Reader threads load this module too, and find their methods here. */
export const METHODS: MethodTable = new Map(ALL_METHODS.map((method) => [method.name, method]))
