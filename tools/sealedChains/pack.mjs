// pack.mjs FOLDER: writes the chains of MakeChain (FOLDER/ibft2) and record.mjs for the tests; network.mjs writes that of QBFT itself.
import fs from 'node:fs'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

const W = new URL('../../test/support/chains/sealed/', import.meta.url).pathname
const [from] = process.argv.slice(2)
const pack = (name, lines) => {
  const text = lines.join('\n')
  fs.writeFileSync(
    W + name,
    brotliCompressSync(text, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_LGWIN]: 24,
        [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
      },
    }),
  )
  console.log(name, lines.length - 1, text.length, fs.statSync(W + name).size)
}
for (const k of ['ibft2']) {
  const plan = fs.readFileSync(`${from}/${k}/plan.txt`, 'utf8').split('\n'),
    watched = plan[1].split(',')
  const [hash, ...out] = fs.readFileSync(`${from}/${k}/out.txt`, 'utf8').trim().split('\n')
  pack('besuIbft2.ndjson.br', [
    JSON.stringify({ genesis: JSON.parse(fs.readFileSync(`${from}/${k}/genesis.json`)), hash }),
    ...out.map((l) => {
      const [raw, h, r, b, v] = l.split(' ')
      return JSON.stringify({
        raw,
        hash: h,
        receipts:
          r === '-'
            ? []
            : r.split(',').map((x) => {
                const [status, gas, logs] = x.split(':')
                return {
                  status: `0x${Number(status).toString(16)}`,
                  cumulativeGasUsed: `0x${Number(gas).toString(16)}`,
                  logs: Number(logs),
                }
              }),
        balances: Object.fromEntries(b.split(',').map((x, i) => [watched[i], x])),
        validators: v.split(','),
      })
    }),
  ])
}
for (const [src, name] of [
  ['clique.br', 'clique.ndjson.br'],
  ['goquorum.br', 'goQuorum.ndjson.br'],
]) {
  const lines = brotliDecompressSync(fs.readFileSync(`${from}/${src}`))
    .toString()
    .split('\n')
  pack(
    name,
    lines.map((l, i) => {
      if (i === 0) return l
      const b = JSON.parse(l)
      b.receipts = b.receipts.map(({ status, cumulativeGasUsed, contractAddress, logs }) => ({
        status,
        cumulativeGasUsed,
        contractAddress,
        logs: logs.length,
      }))
      b.traces = b.traces.map(({ type, from, to, gasUsed, output, error, value }) => ({
        type,
        from,
        to,
        gasUsed,
        value,
        error,
        output: output?.slice(0, 66),
      }))
      return JSON.stringify(b)
    }),
  )
}
