import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BenchClient, countResults, openClient, quantile, toFilter } from '../lib/client.js'
import { startProcess } from '../lib/process.js'
import { collectBetween } from './garbage.js'
import { type Shape, TEN_THOUSAND } from './shapes.js'

/** 10,000 results over HTTP beside the floor of the machine. */
export interface TenThousand {
  /** Fewer on a chain that is too short. */
  results: number
  bytes: number
  cairnP50Ms: number
  /** A bare server of Node that sends the same bytes from memory. */
  fromMemoryP50Ms: number
  /** How many times as long ours takes. */
  ratio: number
}

/** Asks for 10,000 results and, in turns, a server that sends the same bytes from memory, in a process of its own. */
export async function measureTenThousand(
  shapes: readonly Shape[],
  { client, directory, runs }: { client: BenchClient; directory: string; runs: number },
): Promise<TenThousand> {
  const shape = shapes.find(({ name }) => name === TEN_THOUSAND)!
  const { body } = await client.getLogs(toFilter(shape.question(0)))
  const path = join(directory, 'ten-thousand.json')
  writeFileSync(path, body)
  const server = startProcess<number>(new URL('./processes/fromMemory.js', import.meta.url), path)
  const bare = openClient(`http://127.0.0.1:${await server.next()}`)
  try {
    const times = { cairn: [] as number[], fromMemory: [] as number[] }
    await bare.getLogs({})
    const ask = async (of: BenchClient, n: number) => {
      const { ms, body } = await of.getLogs(toFilter(shape.question(n)))
      collectBetween(body.length)
      return ms
    }
    for (let n = 1; n <= runs; n++) {
      times.cairn.push(await ask(client, n))
      times.fromMemory.push(await ask(bare, n))
    }
    const [cairnP50Ms, fromMemoryP50Ms] = [quantile(times.cairn, 0.5), quantile(times.fromMemory, 0.5)]
    const ratio = cairnP50Ms / fromMemoryP50Ms
    return { results: countResults(body), bytes: body.length, cairnP50Ms, fromMemoryP50Ms, ratio }
  } finally {
    bare.close()
    server.kill()
  }
}
