import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Histogram from 'prom-client/lib/histogram.js'
import Registry from 'prom-client/lib/registry.js'

export type MetricDescription = { name: string; type: string; help: string; labels: readonly string[] }

/** Makes metrics with the prefix of this service, in a registry of their own. */
export class Instruments {
  readonly #registry = new Registry()
  readonly #labels = new Map<string, readonly string[]>()
  #process: Promise<void> | undefined

  /** Adds the standard metrics of a Node process at the first scrape. */
  #addProcess(): Promise<void> {
    return (this.#process ??= import('prom-client/lib/defaultMetrics.js').then(({ default: collect }) =>
      collect({ register: this.#registry }),
    ))
  }

  /** A number that only grows. @param labels the names of its labels */
  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    return new Counter(this.#configuration(name, help, labels))
  }

  /** A number that rises and falls. @param labels the names of its labels */
  gauge(name: string, help: string, labels: readonly string[] = []): Gauge {
    return new Gauge(this.#configuration(name, help, labels))
  }

  /** A histogram of values. @param buckets the upper bounds of its buckets, in ascending order */
  histogram(name: string, help: string, buckets: readonly number[], labels: readonly string[] = []): Histogram {
    return new Histogram({ ...this.#configuration(name, help, labels), buckets: [...buckets] })
  }

  #configuration(name: string, help: string, labels: readonly string[]) {
    const whole = `mindledger_${name}`
    this.#labels.set(whole, labels)
    return { name: whole, help, labelNames: [...labels], registers: [this.#registry] }
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** All metrics in the text format. */
  async text(): Promise<string> {
    await this.#addProcess()
    const text = await this.#registry.metrics()
    // The library writes `Nan`, which the format does not allow.
    return text.replaceAll(/ Nan$/gm, ' NaN')
  }

  /** The descriptions of all metrics, in the order of the text. */
  async described(): Promise<MetricDescription[]> {
    const text = await this.text()
    return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm)].map(([, name = '', help = '', type = '']) => ({
      ...{ name, help, type },
      labels: this.#labels.get(name) ?? [],
    }))
  }
}
