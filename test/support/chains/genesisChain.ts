import { openForWriting } from '../../../src/store/openForWriting.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { temporaryDirectory } from '../temporary.js'

/** An account of a genesis, in geth's form. */
export interface GenesisEntry {
  balance: string
  code?: string
  storage?: { readonly [slot: string]: string }
}

/** The forks of a genesis from block 0 on: all up to Cancun, with Osaka those up to it too. With a time of Amsterdam
 *  the contracts of its system calls must be among the accounts. */
export type GenesisForks = 'cancun' | 'osaka'

/** A genesis in geth's form, with a base fee of 7 wei and a blob base fee of a few thousand. */
export function createGenesis(
  alloc: { readonly [address: string]: GenesisEntry },
  {
    forks = 'osaka',
    gasLimit = 60_000_000n,
    amsterdamTime,
  }: { forks?: GenesisForks; gasLimit?: bigint; amsterdamTime?: number } = {},
): object {
  const blocks = ['homestead', 'eip150', 'eip155', 'eip158', 'byzantium', 'constantinople', 'petersburg', 'istanbul']
  const later = ['berlin', 'london', 'mergeNetsplit']
  const cancun = { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 }
  const prague = { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 }
  return {
    config: {
      chainId: 1337,
      ...Object.fromEntries([...blocks, ...later].map((name) => [`${name}Block`, 0])),
      terminalTotalDifficulty: 0,
      terminalTotalDifficultyPassed: true,
      shanghaiTime: 0,
      cancunTime: 0,
      ...(forks === 'osaka' ? { pragueTime: 0, osakaTime: 0, amsterdamTime } : {}),
      blobSchedule: { cancun, ...(forks === 'osaka' ? { prague, osaka: prague } : {}) },
      depositContractAddress: '0x00000000219ab540356cbb839cbe05303d7705fa',
    },
    ...{ nonce: '0x0', timestamp: '0x1', extraData: '0x', gasLimit: `0x${gasLimit.toString(16)}`, difficulty: '0x0' },
    ...{ mixHash: `0x${'00'.repeat(32)}`, coinbase: `0x${'00'.repeat(20)}`, baseFeePerGas: '0x7' },
    ...{ excessBlobGas: '0x4000000', blobGasUsed: '0x0' },
    alloc,
  }
}

/** The directory of a database that holds block 0 of the genesis with its state; removed at the end. */
export async function writeGenesisChain(
  t: { after(callback: () => void | Promise<void>): void },
  genesis: object,
): Promise<string> {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  await openWritableChain(db, { genesis }, 'execute')
  db.close()
  return datadir
}
