import { createRequire } from 'node:module'
import { type ChainConfig, Holesky, Hoodi, Mainnet, Sepolia } from '@ethereumjs/common'

export { InvalidGenesis } from './genesisFields.js'

import { EMPTY_BYTES } from '../../lib/bytes.js'
import { abbreviate, formatData, parseHex } from '../../lib/hex.js'
import { EMPTY_UNCLES_HASH } from './emptyHashes.js'
import { readFamilyConfig } from './families/families.js'
import { FAMILY_NETWORKS, type FamilyNetwork } from './families/networks.js'
import { FORK_KEYS } from './forkSchedule.js'
import { FORK_DEFINITIONS } from './forks/all.js'
import { type BlobSchedule, type ChainSpec, FORKS, type Fork, type ForkActivation, rulesAt } from './forks/rules.js'
import {
  atMost,
  InvalidGenesis,
  type GenesisJson as Json,
  readBytes,
  readHex,
  readNonce,
  readUint,
  readWord,
  requireObject,
  show,
  trimWord,
  withPrefix,
} from './genesisFields.js'
import { EMPTY_TRIE_ROOT } from './trie.js'
import type { Header } from './types.js'

export interface GenesisAccount {
  address: Uint8Array // 20
  nonce: bigint
  balance: bigint
  code: Uint8Array
  /** Slots of 32 bytes and values without leading zeros; zero values are left out. */
  storage: { slot: Uint8Array; value: Uint8Array }[]
}

/** The start of a chain: its rules, block 0, and the genesis state. */
export interface Genesis {
  spec: ChainSpec
  /** Header of block 0; its `stateRoot` is zero until the state is written, unless the file has one (`stateHash`, as in
   *  op-geth). */
  header: Header
  accounts: GenesisAccount[]
  /** Hash of block 0, 32 bytes, where it is known without the state, which `accounts` then lacks. */
  hash?: Uint8Array
}

/** Networks of Ethereum, whose genesis states Cairn has. */
const ETHEREUM_NETWORKS = ['mainnet', 'sepolia', 'holesky', 'hoodi'] as const
type EthereumNetwork = (typeof ETHEREUM_NETWORKS)[number]

/** Names of the built-in networks. */
export const NETWORKS = [...ETHEREUM_NETWORKS, ...(Object.keys(FAMILY_NETWORKS) as FamilyNetwork[])] as const
export type Network = (typeof NETWORKS)[number]

function isOfFamily(network: Network): network is FamilyNetwork {
  return network in FAMILY_NETWORKS
}

/** The rules of a built-in network, without its state. */
export function builtInSpec(network: Network): ChainSpec {
  return isOfFamily(network) ? FAMILY_NETWORKS[network].spec : specOfPackageChain(network, packageChain(network))
}

function packageChain(network: EthereumNetwork): ChainConfig {
  return { mainnet: Mainnet, sepolia: Sepolia, holesky: Holesky, hoodi: Hoodi }[network]
}

/** The genesis of a built-in network; of one without its state, the hash of block 0 is all that is known of it. */
export function builtInGenesis(network: Network): Genesis {
  if (isOfFamily(network)) {
    const { spec, genesisHash } = FAMILY_NETWORKS[network]
    return { spec, header: genesisHeader(spec, { gasLimit: 0 }), accounts: [], hash: genesisHash }
  }
  const config = packageChain(network)
  const spec = specOfPackageChain(network, config)
  // Loaded on demand: 700 KB of genesis states, which threads that need only the rules do without.
  const require = createRequire(import.meta.url)
  const { getGenesis } = require('@ethereumjs/genesis') as typeof import('@ethereumjs/genesis')
  const state = getGenesis(Number(config.chainId)) ?? {}
  const accounts = Object.entries(state).map(([address, entry]) => {
    const [balance, code = '0x', storage = [], nonce = '0x0'] = Array.isArray(entry) ? entry : [entry]
    return readAccount(address, {
      balance,
      code,
      nonce,
      storage: Object.fromEntries(storage as [string, string][]),
    })
  })
  const { genesis } = config
  const header = genesisHeader(spec, {
    timestamp: genesis.timestamp ?? 0,
    gasLimit: genesis.gasLimit,
    difficulty: genesis.difficulty,
    nonce: genesis.nonce,
    extraData: genesis.extraData,
    baseFeePerGas: genesis.baseFeePerGas,
    excessBlobGas: genesis.excessBlobGas,
  })
  return { spec, header, accounts }
}

// Fork names of @ethereumjs/common that differ. `mergeNetsplitBlock` changes no rule.
const NETSPLIT = 'mergeNetsplitBlock'
const PACKAGE_FORKS: { [name: string]: Fork | undefined } = { chainstart: 'frontier', [NETSPLIT]: undefined }

function specOfPackageChain(network: EthereumNetwork, config: ChainConfig): ChainSpec {
  const activations: ForkActivation[] = []
  for (const { name, block, timestamp } of config.hardforks) {
    const fork = name in PACKAGE_FORKS ? PACKAGE_FORKS[name] : FORKS.find((known) => known === name)
    if (fork === undefined) continue
    if (timestamp !== undefined) activations.push({ fork, timestamp: BigInt(timestamp) })
    else if (block !== null) activations.push({ fork, block })
  }
  for (const { name: fork, networkTimes } of FORK_DEFINITIONS) {
    const timestamp = networkTimes?.[network]
    if (timestamp !== undefined) activations.push({ fork, timestamp })
  }
  return {
    name: network,
    chainId: BigInt(config.chainId),
    activations,
    daoForkSupport: network === 'mainnet',
    depositContract: config.depositContractAddress ? parseHex(config.depositContractAddress) : undefined,
    blobSchedules: {
      bpo1: { target: 10, max: 15, baseFeeUpdateFraction: 8346193n },
      bpo2: { target: 14, max: 21, baseFeeUpdateFraction: 11684671n },
    },
    ethash: true,
    genesisTime: BigInt(config.genesis.timestamp ?? 0),
    mergeNetsplitBlock: config.hardforks.find(({ name }) => name === NETSPLIT)?.block ?? undefined,
    genesisChecksum: Number(config.hardforks[0].forkHash),
  }
}

/** A genesis from JSON in geth's format, with Cairn's own member `hash`, the hash of block 0, where the file lacks the
 *  state. @throws InvalidGenesis naming the member, its value and what would work. */
export function parseGenesis(json: unknown): Genesis {
  const file = requireObject(json, 'genesis')
  const spec = parseGenesisSpec(json)
  const header = genesisHeader(spec, file)
  const alloc = requireObject(file.alloc ?? {}, 'alloc')
  const accounts = Object.entries(alloc).map(([address, account]) =>
    readAccount(address, requireObject(account, `alloc.${address}`)),
  )
  requireOnce(accounts)
  const hash = file.hash === undefined ? undefined : readBytes(file.hash, 32, 'hash')
  return { spec, header, accounts, hash }
}

/** Letter case and prefix of an address may vary, so two members may be the same account. */
function requireOnce(accounts: readonly GenesisAccount[]): void {
  const seen = new Set<string>()
  for (const { address } of accounts) {
    const name = formatData(address)
    if (seen.has(name)) throw new InvalidGenesis(`alloc.${name}: expected each account once, got it twice`)
    seen.add(name)
  }
}

/** The rules of a genesis in geth's format, without its state. @throws InvalidGenesis */
export function parseGenesisSpec(json: unknown): ChainSpec {
  const file = requireObject(json, 'genesis')
  const config = requireObject(file.config, 'config')
  const family = readFamilyConfig(config).spec
  const activations: ForkActivation[] = [{ fork: 'frontier', block: 0 }]
  for (const [key, fork] of FORK_KEYS) {
    if (config[key] === undefined || config[key] === null) continue
    const at = readUint(config[key], `config.${key}`, 64)
    activations.push(key.endsWith('Time') ? { fork, timestamp: at } : { fork, block: Number(at) })
  }
  fillEarlierForks(activations)
  const terminal = config.terminalTotalDifficulty
  const netsplit = config.mergeNetsplitBlock
  const mergeNetsplitBlock =
    netsplit === undefined || netsplit === null
      ? undefined
      : Number(readUint(netsplit, 'config.mergeNetsplitBlock', 64))
  if (terminal === undefined && mergeNetsplitBlock !== undefined) {
    activations.push({ fork: 'paris', block: mergeNetsplitBlock })
  } else if (terminal === undefined && config.terminalTotalDifficultyPassed === true) {
    activations.push({ fork: 'paris', block: 0 })
  }
  const fixed = (config.ethash as Json | undefined)?.fixeddifficulty
  return {
    name: typeof config.name === 'string' ? config.name : 'custom',
    chainId: readUint(config.chainId ?? 1, 'config.chainId', 64),
    activations,
    terminalTotalDifficulty:
      terminal === undefined || terminal === null
        ? undefined
        : readUint(terminal, 'config.terminalTotalDifficulty', 256),
    daoForkSupport: config.daoForkBlock !== undefined && config.daoForkSupport !== false,
    depositContract:
      config.depositContractAddress === undefined
        ? undefined
        : readBytes(config.depositContractAddress, 20, 'config.depositContractAddress'),
    blobSchedules: readBlobSchedules(config.blobSchedule),
    ethash: true,
    fixedDifficulty: fixed === undefined ? undefined : readUint(fixed, 'config.ethash.fixeddifficulty', 256),
    isDevelopment: config.development === true,
    omitsSystemCalls: config.development === true && config.omitsSystemCalls === true,
    genesisTime: readUint(file.timestamp ?? 0, 'timestamp', 64),
    mergeNetsplitBlock,
    ...family,
  }
}

/** A development genesis may name only later forks (Besu's `byzantiumBlock: 0`): the earlier ones are then active
 *  too. */
function fillEarlierForks(activations: ForkActivation[]): void {
  const named = new Set(activations.map(({ fork }) => fork))
  const byBlock = activations.filter(({ block }) => block !== undefined)
  for (const fork of FORKS.slice(1, FORKS.indexOf('muirGlacier'))) {
    if (fork === 'dao' || named.has(fork)) continue
    const later = byBlock.filter((other) => FORKS.indexOf(other.fork) > FORKS.indexOf(fork)).map(({ block }) => block!)
    if (later.length > 0) activations.push({ fork, block: Math.min(...later) })
  }
  activations.sort((a, b) => FORKS.indexOf(a.fork) - FORKS.indexOf(b.fork))
}

function readBlobSchedules(value: unknown): { [K in Fork]?: BlobSchedule } {
  if (value === undefined || value === null) return {}
  const out: { [K in Fork]?: BlobSchedule } = {}
  for (const [name, entry] of Object.entries(requireObject(value, 'config.blobSchedule'))) {
    const fork = FORKS.find((known) => known === name)
    if (fork === undefined) throw new InvalidGenesis(`config.blobSchedule.${name}: unknown fork`)
    const path = `config.blobSchedule.${name}`
    const schedule = requireObject(entry, path)
    const max = readUint(schedule.max, `${path}.max`, 16)
    out[fork] = {
      target: Number(atMost(max, readUint(schedule.target, `${path}.target`, 16), `${path}.target`, 'its max')),
      max: Number(max),
      baseFeeUpdateFraction: readUint(schedule.baseFeeUpdateFraction, `${path}.baseFeeUpdateFraction`, 64),
    }
    if (out[fork].baseFeeUpdateFraction === 0n)
      throw new InvalidGenesis(`${path}.baseFeeUpdateFraction: expected at least 1, got 0`)
  }
  return out
}

function genesisHeader(spec: ChainSpec, file: Json): Header {
  const timestamp = readUint(file.timestamp ?? 0, 'timestamp', 64)
  const difficulty = readUint(file.difficulty ?? 0, 'difficulty', 256)
  if (readUint(file.number ?? 0, 'number', 64) !== 0n)
    throw new InvalidGenesis(`number: expected 0, since a chain begins with block 0, got ${show(file.number)}`)
  const rules = rulesAt(spec, 0, timestamp, spec.terminalTotalDifficulty === 0n ? 0n : undefined)
  const optionalUint = (key: string, fallback: bigint, bits: number) =>
    file[key] === undefined || file[key] === null ? fallback : readUint(file[key], key, bits)
  const optionalBytes = (key: string, length: number, fallback = new Uint8Array(length)) =>
    file[key] === undefined || file[key] === null ? fallback : readBytes(file[key], length, key)
  const header: Header = {
    parentHash: optionalBytes('parentHash', 32),
    unclesHash: EMPTY_UNCLES_HASH,
    miner: optionalBytes('coinbase', 20),
    stateRoot: optionalBytes('stateHash', 32),
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty,
    number: 0,
    gasLimit: readUint(file.gasLimit, 'gasLimit', 64),
    gasUsed: optionalUint('gasUsed', 0n, 64),
    timestamp,
    extraData: file.extraData ? readHex(withPrefix(file.extraData), 'extraData') : EMPTY_BYTES,
    mixHash: optionalBytes('mixHash', 32),
    nonce: file.nonce === undefined ? new Uint8Array(8) : readNonce(file.nonce),
  }
  const values = rules.headerFields.map(({ name, type, bytes, empty, inGenesis }) => {
    if (!inGenesis) return [name, empty]
    const value = type === 'uint' ? optionalUint(name, empty as bigint, 8 * bytes) : optionalBytes(name, bytes)
    return [name, value]
  })
  Object.assign(header, Object.fromEntries(values))
  return header
}

function readAccount(address: string, account: Json): GenesisAccount {
  const path = `alloc.${abbreviate(address)}`
  const storage = account.storage === undefined ? {} : requireObject(account.storage, `${path}.storage`)
  return {
    address: readBytes(withPrefix(address), 20, path),
    nonce: readUint(account.nonce ?? 0, `${path}.nonce`, 64),
    balance: readUint(account.balance ?? 0, `${path}.balance`, 256),
    code: account.code === undefined ? EMPTY_BYTES : readHex(withPrefix(account.code), `${path}.code`),
    storage: readStorage(storage, `${path}.storage`),
  }
}

function readStorage(storage: Json, path: string): GenesisAccount['storage'] {
  const values = new Map<string, GenesisAccount['storage'][0]>()
  for (const [key, text] of Object.entries(storage)) {
    const slot = readWord(key, `${path}.${abbreviate(key)}`)
    const name = formatData(slot)
    if (values.has(name)) throw new InvalidGenesis(`${path}.${name}: expected each slot once, got it twice`)
    values.set(name, { slot, value: trimWord(readWord(text, `${path}.${name}`)) })
  }
  return [...values.values()].filter(({ value }) => value.length > 0)
}
