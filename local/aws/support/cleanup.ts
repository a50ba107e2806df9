type Step = () => void | Promise<void>;

/** What has to be undone, last first; a step that fails does not keep the others from running. */
export class Cleanup {
  readonly #steps: Step[] = [];

  add(step: Step): void {
    this.#steps.push(step);
  }

  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        process.emitWarning(`The embedded AWS did not end cleanly: ${error}`);
      }
    }
  }
}
