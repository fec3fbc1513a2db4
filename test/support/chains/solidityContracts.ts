import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Abi, Hex } from 'viem'
import { packagePath } from '../../../src/store/open.js'

const FOLDER = packagePath('test/support/solidity')

/** Written by `npm run compile:solidity`. */
export const CONTRACTS_FILE = join(FOLDER, 'contracts.json')

/** A compiled contract. */
export interface Contract {
  readonly abi: Abi
  /** Its creation code, without the arguments of the constructor. */
  readonly bytecode: Hex
  /** Of `Cabinet` alone: the metadata whose IPFS hash is in the code, and the storage layout. */
  readonly metadata?: string
  readonly storageLayout?: object
}

const NAMES = [
  'Token',
  'Collectible',
  'Factory',
  'ERC1967Proxy',
  'Vault',
  'VaultV2',
  'Runner',
  'OddToken',
  'FeeToken',
  'MultiToken',
  'Cabinet',
] as const

export type ContractName = (typeof NAMES)[number]

/** The contracts of test/support/solidity/*.sol, and what they were compiled with. */
export interface Contracts {
  /** The long version of solc, with its commit. */
  readonly compiler: string
  readonly evmVersion: string
  /** `hashSources` of what was compiled. */
  readonly sourcesSha256: string
  readonly contracts: { readonly [name in ContractName]: Contract }
}

/** The Solidity sources by file name, in the order of the names. */
export function readSources(): { [name: string]: { content: string } } {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.sol'))
  return Object.fromEntries(names.sort().map((name) => [name, { content: readFileSync(join(FOLDER, name), 'utf8') }]))
}

/** SHA-256, in hex without prefix, of the names and contents of the sources. */
export function hashSources(): string {
  return createHash('sha256').update(JSON.stringify(readSources())).digest('hex')
}

/** The committed contracts. */
export function readContracts(): Contracts {
  return JSON.parse(readFileSync(CONTRACTS_FILE, 'utf8')) as Contracts
}

/** The contracts of that name out of the output of solc. Throws on a name that it lacks. */
export function pickContracts(compiled: { [name: string]: Contract | undefined }): Contracts['contracts'] {
  const entries = NAMES.map((name) => {
    const contract = compiled[name]
    if (contract === undefined) throw new Error(`no contract ${name} in the sources`)
    return [name, contract]
  })
  return Object.fromEntries(entries) as Contracts['contracts']
}
