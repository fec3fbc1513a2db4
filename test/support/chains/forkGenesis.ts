import { FORKS, type Fork } from '../../../src/chain/eth/forks/rules.js'

/** What geth calls the forks by block, in order. */
const BLOCK_FORKS = new Map<Fork, readonly string[]>([
  ['homestead', ['homesteadBlock']],
  ['tangerineWhistle', ['eip150Block']],
  ['spuriousDragon', ['eip155Block', 'eip158Block']],
  ['byzantium', ['byzantiumBlock']],
  ['constantinople', ['constantinopleBlock']],
  ['petersburg', ['petersburgBlock']],
  ['istanbul', ['istanbulBlock']],
  ['berlin', ['berlinBlock']],
  ['london', ['londonBlock']],
])
const TIME_FORKS: readonly Fork[] = ['shanghai', 'cancun', 'prague', 'osaka', 'amsterdam', 'bogota']

/** A genesis in geth's form whose block 0 has the rules of the fork; Bogota is without Amsterdam, as in geth's dev
 *  mode. */
export function createForkGenesis(fork: Fork, alloc: object): object {
  const has = (other: Fork) => FORKS.indexOf(other) <= FORKS.indexOf(fork)
  const isMerged = has('paris')
  const blocks = [...BLOCK_FORKS].flatMap(([each, names]) => (has(each) ? names.map((name) => [name, 0]) : []))
  const isOmitted = (each: Fork) => fork === 'bogota' && each === 'amsterdam'
  const times = TIME_FORKS.filter((each) => has(each) && !isOmitted(each)).map((each) => [`${each}Time`, 0])
  const schedule = { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 }
  const blobSchedule = Object.fromEntries(TIME_FORKS.slice(1).map((each) => [each, schedule]))
  return {
    config: {
      chainId: 1337,
      ...Object.fromEntries([...blocks, ...times]),
      // geth takes an absent block of Petersburg for that of Constantinople.
      ...(has('constantinople') && !has('petersburg') ? { petersburgBlock: 10 ** 9 } : {}),
      // geth serves only chains that name it.
      terminalTotalDifficulty: isMerged ? 0 : 10 ** 15,
      ...(isMerged ? { mergeNetsplitBlock: 0 } : { ethash: {} }),
      ...(has('cancun') ? { blobSchedule } : {}),
      depositContractAddress: '0x00000000219ab540356cbb839cbe05303d7705fa',
    },
    ...{ nonce: '0x0', timestamp: '0x1', extraData: '0x', gasLimit: '0x3938700' },
    difficulty: isMerged ? '0x0' : '0x20000',
    ...{ mixHash: `0x${'00'.repeat(32)}`, coinbase: `0x${'00'.repeat(19)}cb` },
    ...(has('london') ? { baseFeePerGas: '0x7' } : {}),
    ...(has('cancun') ? { excessBlobGas: '0x0', blobGasUsed: '0x0' } : {}),
    alloc,
  }
}
