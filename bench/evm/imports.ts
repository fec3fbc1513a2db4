import { existsSync } from 'node:fs'
import { packagePath } from '../../src/store/open.js'
import { sharedPath } from '../../test/support/shared.js'
import { startProcess } from '../lib/process.js'
import { BUSY_KINDS, type BusyChainPlan, type BusyKind, makeBusyChain } from './busyChain.js'
import {
  type ChainFile,
  ENGINES,
  type EngineName,
  type ImportOutcome,
  type ImportPlan,
  type ImportResult,
} from './plans.js'

/** Chains in files: the bundled one, and those that lie beside the repository where they do. */
const FILES: { readonly [name: string]: () => ChainFile | undefined } = {
  'bundled chain': () => ({
    path: packagePath('fixtures/chain/chain.rlp'),
    genesis: packagePath('fixtures/chain/genesis.json'),
  }),
  'official chain': () => shared('conformance/execution-apis/chain.rlp', { genesis: 'genesis.json' }),
  'besu fork': () => shared('chains/besu-fork/fork-upgraded.blocks', { genesis: 'genesis-upgraded.json' }),
  'mainnet 1 to 8191': () => shared('chains/mainnet-00000-5ec1ffb8.era1', { network: 'mainnet' }),
  'sepolia 1 to 8191': () => shared('chains/sepolia-00000-643a00f7.era1', { network: 'sepolia' }),
}

function shared(name: string, { genesis, network }: Omit<ChainFile, 'path'>): ChainFile | undefined {
  const path = sharedPath(...name.split('/'))
  if (path === undefined || !existsSync(path)) return undefined
  return { path, genesis: genesis && path.replace(/[^/]*$/, genesis), network }
}

/** Names of all imports, in the order in which they are measured. */
export const IMPORT_NAMES: readonly string[] = [...BUSY_KINDS, ...Object.keys(FILES)]

/** Times as many blocks as package defaults that a chain is to reach; chains of full blocks are to reach 40 Mgas/s. */
export const IMPORT_GOAL = { defaults: 10, mgasPerSecond: 40 } as const

/** What came of an import. */
export interface ImportFigures extends ImportResult {
  name: string
  /** Package defaults; null where they cannot execute the chain. */
  referenceBlocksPerSecond: number | null
  /** `--evm reference`; null where it cannot execute the chain. */
  evmReferenceBlocksPerSecond: number | null
  /** All figures of each, or why there are none. */
  reference: ImportOutcome
  evmReference: ImportOutcome
}

/** All imports, and the names of those whose file is not there. */
export interface ImportRun {
  imports: ImportFigures[]
  leftOut: string[]
}

/** Imports each chain by each engine in a process of its own. What is not there is left out and named. */
export async function measureImports(
  names: readonly string[],
  { seconds, ...chainPlan }: BusyChainPlan & { seconds: number },
): Promise<ImportRun> {
  const imports: ImportFigures[] = []
  const leftOut: string[] = []
  for (const name of names) {
    const busy = BUSY_KINDS.find((kind) => kind === name)
    const chain = busy ? (await requireBusyChain(busy, chainPlan)).chain : FILES[name]()
    if (chain === undefined) {
      leftOut.push(name)
      continue
    }
    const results = {} as { [engine in EngineName]: ImportOutcome }
    for (const engine of ENGINES) {
      process.stderr.write(`\rimport: ${name}, ${engine}\x1b[K`)
      results[engine] = await runOnce<ImportOutcome>('evmImports', {
        engine,
        chain,
        directory: chainPlan.directory,
        seconds,
        warmSeconds: seconds,
      } satisfies ImportPlan)
    }
    imports.push({
      name,
      ...requireFigures(results.cairn, name),
      referenceBlocksPerSecond: rateOf(results.defaults),
      evmReferenceBlocksPerSecond: rateOf(results.reference),
      reference: results.defaults,
      evmReference: results.reference,
    })
  }
  process.stderr.write('\n')
  return { imports, leftOut }
}

/** Figures of our interpreter. @throws Error where it cannot execute the chain */
export function requireFigures(outcome: ImportOutcome, name: string): ImportResult {
  if ('failure' in outcome) throw new Error(`${name}: ${outcome.failure}`)
  return outcome
}

function rateOf(outcome: ImportOutcome): number | null {
  return 'failure' in outcome ? null : outcome.blocksPerSecond
}

const made = new Map<string, ReturnType<typeof makeBusyChain>>()

/** The chain of full blocks of that kind in the directory, made when first asked for. */
export function requireBusyChain(kind: BusyKind, options: BusyChainPlan) {
  const key = `${kind} ${options.directory}`
  const chain = made.get(key) ?? makeBusyChain(kind, options)
  made.set(key, chain)
  return chain
}

/** What a process of the benchmark answers; it ends with it. */
export async function runOnce<Out>(name: string, plan: unknown): Promise<Out> {
  const started = startProcess<Out>(new URL(`./processes/${name}.js`, import.meta.url), plan)
  try {
    return await started.next()
  } finally {
    started.kill()
  }
}
