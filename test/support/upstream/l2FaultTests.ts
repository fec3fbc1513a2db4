import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openL2Database } from '../chains/l2.js'
import { growL2 } from '../chains/l2Blocks.js'
import { temporaryDirectory } from '../temporary.js'
import { checkL2Chain, followL2, type L2Route } from './followL2.js'
import { L2_FAILURES, L2_LIES, type L2CheckRoute, type L2FaultCase } from './l2Faults.js'
import { startL2Node } from './l2Node.js'

type After = { after(callback: () => void | Promise<void>): void }

const CHAIN = growL2([], 12)

/** Follows a node with the fault, which is well again once the invalid response is named; fails unless the right chain
 *  comes out. */
async function follow(
  t: After,
  route: L2Route,
  { check: checks, ...fault }: L2FaultCase,
  minor: number,
): Promise<void> {
  const check = typeof checks === 'object' ? checks[checkRouteOf(route, minor)] : checks
  const database = openL2Database(temporaryDirectory(t))
  t.after(() => database.close())
  const node = await startL2Node(t, CHAIN)
  node.minor = minor
  node.fault = fault
  const followed = followL2(t, database, [node], { route })
  if (check) {
    const quarantines = () => followed.lines.filter(({ message }) => /quarantined/.test(message))
    await followed.until(() => quarantines().length > 0)
    assert.equal(quarantines()[0].fields.check, check)
    assert.equal(quarantines()[0].fields.upstream, node.url)
    node.fault = undefined
  }
  await followed.reaches(node)
  checkL2Chain(database, node)
}

function checkRouteOf(route: L2Route, minor: number): L2CheckRoute {
  if (route === 'the feeder gateway') return 'feeder'
  return minor < 10 ? 'RPC 0.9' : 'RPC 0.10'
}

/** Ways to a node, with the minor number of its RPC specification. */
const ROUTES = [
  ['RPC over HTTP', 9],
  ['RPC over HTTP', 10],
  ['the feeder gateway', 9],
] as const

/** Registers a test for each fault that is selected by its place. */
export function testL2Faults(isSelected: (index: number) => boolean): void {
  for (const [i, [route, minor]] of ROUTES.entries()) {
    describe(`over ${route}${route === 'RPC over HTTP' ? ` 0.${minor}` : ''}`, () => {
      for (const fault of L2_LIES.filter((_, at) => isSelected(at + i))) {
        test(`an invalid response is named, quarantined and not stored: ${fault.name}`, (t) =>
          follow(t, route, fault, minor))
      }
      if (minor === 10) return
      for (const fault of L2_FAILURES.filter((_, at) => isSelected(at + i))) {
        test(`the chain comes through: ${fault.name}`, (t) => follow(t, route, fault, minor))
      }
    })
  }
}
