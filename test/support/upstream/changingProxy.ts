import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { UpstreamCall } from './scriptedUpstream.js'

/** What a proxy changes. */
export interface ProxyFault {
  /** Another call that is sent in place of one. */
  call?(call: UpstreamCall): UpstreamCall
  /** Another result in place of one; the call is the one that was sent. */
  result?(call: UpstreamCall, result: unknown): unknown
  /** An error in place of an answer. */
  error?(call: UpstreamCall): { code: number; message: string } | undefined
  /** True for a call whose request is never answered. */
  hangs?(call: UpstreamCall): boolean
  /** How long each request waits. */
  delayMs?(): number
}

/** A JSON-RPC proxy over HTTP. */
export interface ChangingProxy {
  readonly url: string
  fault: ProxyFault
  /** Calls that came, in order. */
  readonly calls: UpstreamCall[]
  /** Changed results and calls, and requests that hang. */
  readonly changed: number
}

/** Starts a proxy of a node on a free port until the test ends. */
export async function startChangingProxy(
  t: { after(callback: () => void | Promise<void>): void },
  target: string,
): Promise<ChangingProxy> {
  let changed = 0
  const answerOf = (call: UpstreamCall, answer: { result?: unknown; error?: unknown }): object => {
    const error = proxy.fault.error?.(call)
    if (error) {
      changed++
      return { jsonrpc: '2.0', id: call.id, error }
    }
    if (!('result' in answer) || !proxy.fault.result) return answer
    const before = JSON.stringify(answer.result)
    const result = proxy.fault.result(call, answer.result)
    if (JSON.stringify(result) !== before) changed++
    return { ...answer, result }
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const asked: UpstreamCall | UpstreamCall[] = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const calls = Array.isArray(asked) ? asked : [asked]
    proxy.calls.push(...calls)
    if (calls.some((call) => proxy.fault.hangs?.(call))) return void changed++
    await delay(proxy.fault.delayMs?.() ?? 0)
    const sent = calls.map((call) => proxy.fault.call?.(call) ?? call)
    if (JSON.stringify(sent) !== JSON.stringify(calls)) changed++
    const headers = { 'content-type': 'application/json' }
    try {
      const body = JSON.stringify(Array.isArray(asked) ? sent : sent[0])
      const text = await (await fetch(target, { method: 'POST', headers, body })).text()
      const answers = JSON.parse(text) as object | { id: number }[]
      const changedAnswers = Array.isArray(answers)
        ? answers.map((each) => answerOf(sent.find(({ id }) => id === each.id)!, each))
        : answerOf(sent[0], answers)
      response.writeHead(200, headers).end(JSON.stringify(changedAnswers))
    } catch {
      response.destroy() // the node has ended
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: {} as ProxyFault,
    calls: [] as UpstreamCall[],
    get changed() {
      return changed
    },
  }
  return proxy
}
