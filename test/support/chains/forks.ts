import { type ChainSpec, FORKS, type Fork, type Rules, rulesAt } from '../../../src/chain/eth/forks/rules.js'

/** A chain on which every fork up to `last` is active from the first block on, as the rules of `last` alone. Bogota is
 *  without Amsterdam, as in geth's dev mode. */
export function specOf(last: Fork, chainId = 1n): ChainSpec {
  return {
    name: last,
    chainId,
    activations: FORKS.slice(0, FORKS.indexOf(last) + 1)
      .filter((fork) => fork !== 'amsterdam' || last !== 'bogota')
      .map((fork) => ({ fork, block: 0 })),
    daoForkSupport: false,
    blobSchedules: {},
    ethash: true,
  }
}

/** The rules of a fork. */
export function rulesOf(fork: Fork): Rules {
  return rulesAt(specOf(fork), 0, 0n)
}

/** Forks as the official tests call them. */
const NAMES: { [name: string]: Fork } = {
  Frontier: 'frontier',
  Homestead: 'homestead',
  EIP150: 'tangerineWhistle',
  EIP158: 'spuriousDragon',
  Byzantium: 'byzantium',
  Constantinople: 'constantinople',
  ConstantinopleFix: 'petersburg',
  Istanbul: 'istanbul',
  Berlin: 'berlin',
  London: 'london',
  Paris: 'paris',
  Shanghai: 'shanghai',
  Cancun: 'cancun',
  Prague: 'prague',
  Osaka: 'osaka',
}

/** The fork of that name in the official tests. @throws Error for a name that is not in the table. */
export function forkOfTests(name: string): Fork {
  const fork = NAMES[name]
  if (fork === undefined) throw new Error(`no fork for the name ${name}`)
  return fork
}
