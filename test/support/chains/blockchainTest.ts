import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'

/** One block of an official blockchain test. */
export interface TestBlock {
  rlp: string
  expectException?: string
  /** The list that is the header's, from Amsterdam on. */
  blockAccessListRLP?: string
  blockHeader?: { hash: string; number: string; parentHash: string }
}

/** One case of an official blockchain test file. */
export interface BlockchainTest {
  network: string
  pre: { [address: string]: TestAccount }
  postState?: { [address: string]: TestAccount }
  genesisBlockHeader: { [key: string]: string }
  blocks: TestBlock[]
  lastblockhash: string
}

export interface TestAccount {
  balance: string
  nonce: string
  code: string
  storage: { [slot: string]: string }
}

/** All cases below a folder, by `file: case`. */
export function* readBlockchainTests(folder: string): Generator<{ name: string; test: BlockchainTest }> {
  for (const path of jsonFiles(folder)) {
    const file = JSON.parse(readFileSync(path, 'utf8')) as { [name: string]: BlockchainTest }
    for (const [name, test] of Object.entries(file)) yield { name: `${relative(folder, path)}: ${name}`, test }
  }
}

/** The `.json` files below a folder, in the order of their names. */
export function* jsonFiles(folder: string): Generator<string> {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) yield* jsonFiles(path)
    else if (name.endsWith('.json')) yield path
  }
}

const BLOCK_FORKS = [
  'homesteadBlock',
  'eip150Block',
  'eip155Block',
  'eip158Block',
  'byzantiumBlock',
  'constantinopleBlock',
  'petersburgBlock',
  'istanbulBlock',
  'muirGlacierBlock',
  'berlinBlock',
  'londonBlock',
  'arrowGlacierBlock',
  'grayGlacierBlock',
]

/** Forks up to and with `last` at block 0. */
const upTo = (last: string) =>
  Object.fromEntries(BLOCK_FORKS.slice(0, BLOCK_FORKS.indexOf(last) + 1).map((fork) => [fork, 0]))

const BPO2 = {
  ...upTo('grayGlacierBlock'),
  terminalTotalDifficulty: 0,
  ...{ shanghaiTime: 0, cancunTime: 0, pragueTime: 0, osakaTime: 0, bpo1Time: 0, bpo2Time: 0 },
  blobSchedule: {
    osaka: { target: 6, max: 9, baseFeeUpdateFraction: 5007716 },
    bpo1: { target: 10, max: 15, baseFeeUpdateFraction: 8346193 },
    bpo2: { target: 14, max: 21, baseFeeUpdateFraction: 11684671 },
  },
}

const NETWORKS: { [name: string]: object } = {
  Frontier: {},
  Homestead: upTo('homesteadBlock'),
  EIP150: upTo('eip150Block'),
  EIP158: upTo('eip158Block'),
  Byzantium: upTo('byzantiumBlock'),
  Constantinople: upTo('constantinopleBlock'),
  ConstantinopleFix: upTo('petersburgBlock'),
  Istanbul: upTo('istanbulBlock'),
  Berlin: upTo('berlinBlock'),
  London: upTo('londonBlock'),
  Paris: { ...upTo('grayGlacierBlock'), terminalTotalDifficulty: 0 },
  Shanghai: { ...upTo('grayGlacierBlock'), terminalTotalDifficulty: 0, shanghaiTime: 0 },
  Cancun: { ...upTo('grayGlacierBlock'), terminalTotalDifficulty: 0, shanghaiTime: 0, cancunTime: 0 },
  Prague: { ...upTo('grayGlacierBlock'), terminalTotalDifficulty: 0, shanghaiTime: 0, cancunTime: 0, pragueTime: 0 },
  Osaka: {
    ...{ ...upTo('grayGlacierBlock'), terminalTotalDifficulty: 0, shanghaiTime: 0, cancunTime: 0, pragueTime: 0 },
    osakaTime: 0,
    blobSchedule: { osaka: { target: 6, max: 9, baseFeeUpdateFraction: 5007716 } },
  },
  Amsterdam: { ...BPO2, amsterdamTime: 0 },
  BPO2ToAmsterdamAtTime15k: { ...BPO2, amsterdamTime: 15000 },
  FrontierToHomesteadAt5: { homesteadBlock: 5 },
  HomesteadToDaoAt5: { homesteadBlock: 0, daoForkBlock: 5, daoForkSupport: true },
  ByzantiumToConstantinopleFixAt5: { ...upTo('byzantiumBlock'), constantinopleBlock: 5, petersburgBlock: 5 },
  BerlinToLondonAt5: { ...upTo('berlinBlock'), londonBlock: 5 },
  ArrowGlacierToParisAtDiffC0000: { ...upTo('arrowGlacierBlock'), terminalTotalDifficulty: 0xc0000 },
  ParisToShanghaiAtTime15k: { ...upTo('grayGlacierBlock'), terminalTotalDifficulty: 0, shanghaiTime: 15000 },
}

/** The genesis file in geth's format of an official test. @throws Error for a network that is not in the table. */
export function genesisOf(test: Pick<BlockchainTest, 'network' | 'pre' | 'genesisBlockHeader'>): object {
  const forks = NETWORKS[test.network]
  if (!forks) throw new Error(`no rules for the network ${test.network}`)
  const { mixHash, ...header } = test.genesisBlockHeader
  return {
    config: { chainId: 1, ethash: {}, ...forks },
    ...header,
    mixHash,
    alloc: test.pre,
  }
}
