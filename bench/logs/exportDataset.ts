import { chooseDatasets } from '../../src/export/datasets.js'
import { openRangeExport } from '../../src/export/exportRanges.js'
import { openExportSource } from '../../src/export/source.js'
import { createDirectoryStore } from '../../src/lib/objects/directoryStore.js'
import { noProgress } from '../../src/lib/progress.js'

/** Exports a dataset as `cairn export` does, in this process. */
export async function exportDataset(datadir: string, lake: string, name: string) {
  const source = openExportSource(datadir)
  await source.loadTraces()
  const [cpu, started] = [process.cpuUsage(), performance.now()]
  const exported = await openRangeExport(source, chooseDatasets([name]), {
    store: createDirectoryStore(lake),
    directory: lake,
    format: 'parquet',
    rangeSize: 10_000,
    verifiesFiles: false,
    observer: { begin: () => noProgress },
  })
  await exported.update({ finalOnly: false, signal: new AbortController().signal })
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const [totals] = exported.totals.values()
  exported.close()
  source.close()
  const { rows, bytes, files } = totals
  return {
    rows,
    bytes,
    files,
    seconds,
    cpuSeconds: (user + system) / 1e6,
    rowsPerSecond: Math.round(rows / seconds),
    rowsPerCpuSecond: Math.round(rows / ((user + system) / 1e6)),
    bytesPerRow: bytes / rows,
  }
}
