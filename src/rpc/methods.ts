import { packageVersion } from '../store/packageVersion.js'
import { ADMIN_METHODS } from './admin/methods.js'
import { CAIRN_METHODS } from './cairn/methods.js'
import type { Method, MethodTable } from './core/method.js'
import { DEBUG_METHODS } from './debug/methods.js'
import { ERIGON_METHODS } from './erigon/methods.js'
import { ETH_METHODS } from './eth/methods.js'
import { NET_METHODS } from './net/methods.js'
import { OTS_METHODS } from './ots/methods.js'
import { createDiscover } from './rpc/discover.js'
import { createModules } from './rpc/modules.js'
import { STARKNET_METHODS } from './starknet/methods.js'
import { TRACE_METHODS } from './trace/methods.js'
import { TXPOOL_METHODS } from './txpool/methods.js'
import { WEB3_METHODS } from './web3/methods.js'

/** Every method, by namespace. */
export const ALL_METHODS: readonly Method[] = [
  ...ETH_METHODS,
  ...NET_METHODS,
  ...WEB3_METHODS,
  ...TXPOOL_METHODS,
  ...DEBUG_METHODS,
  ...TRACE_METHODS,
  ...OTS_METHODS,
  ...ERIGON_METHODS,
  ...ADMIN_METHODS,
  ...STARKNET_METHODS,
  ...CAIRN_METHODS,
  createModules(() => ALL_METHODS),
  createDiscover(() => ALL_METHODS, packageVersion()),
]

/** Every method, by name. Reader threads load this module, too. */
export const METHODS: MethodTable = new Map(ALL_METHODS.map((method) => [method.name, method]))
