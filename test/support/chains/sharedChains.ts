import { runCairnOk } from '../cairn.js'
import { sharedPath } from '../shared.js'
import { temporaryDirectory } from '../temporary.js'

/** Chains of files in the shared folder: by name, what `cairn import` takes. */
export const SHARED_CHAINS: { readonly [name: string]: () => string[] } = {
  mainnet: () => ['--network', 'mainnet', shared('chains', 'mainnet-00000-5ec1ffb8.era1')],
  Sepolia: () => ['--network', 'sepolia', shared('chains', 'sepolia-00000-643a00f7.era1')],
  'the official suite': () => {
    const suite = (file: string) => shared('conformance', 'execution-apis', file)
    return ['--genesis', suite('genesis.json'), suite('chain.rlp')]
  },
  'the upgraded fork': () => forkOf('upgraded'),
  'the outdated fork': () => forkOf('outdated'),
}

/** Imports one of the chains; its data directory. */
export async function importSharedChain(t: { after(end: () => void): void }, name: string): Promise<string> {
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, ...SHARED_CHAINS[name]()])
  return datadir
}

function forkOf(branch: string): string[] {
  const fork = (file: string) => shared('chains', 'besu-fork', file)
  return ['--genesis', fork(`genesis-${branch}.json`), fork('common.blocks'), fork(`fork-${branch}.blocks`)]
}

function shared(...parts: string[]): string {
  return sharedPath(...parts)!
}
