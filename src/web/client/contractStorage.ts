import { call } from './rpc.js'
import type { ContractSources, FoundVariable, StorageVariable } from './storageTypes.js'

/* Storage and sources of contracts by the methods of the server. */

/** Returns all variables of a contract after a block; none without a layout. @throws CallFailed */
export async function readVariables(address: string, block: string): Promise<readonly StorageVariable[]> {
  return (await call<readonly StorageVariable[] | null>('cairn_getStorageVariables', [address, block])) ?? []
}

/** Returns the variable that a path leads to. @throws CallFailed */
export async function readVariable(address: string, block: string, path: readonly string[]): Promise<FoundVariable> {
  const found = await call<readonly StorageVariable[] | null>('cairn_getStorageVariables', [address, block, path])
  return { path, variable: found![0] }
}

/** Returns the source files of a contract or its implementation. @throws CallFailed */
export function loadSources(address: string): Promise<readonly ContractSources[]> {
  return call<readonly ContractSources[]>('cairn_getContractSources', [address])
}
