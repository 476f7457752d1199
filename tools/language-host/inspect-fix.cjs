// A preload for Node 20: util.inspect with colours needs a minute and gigabytes for an error with a stack frame like
// "node_modules/@scope/file.ts:1:1", which is how the Pulumi SDK shows a program's error. Errors are shown without colours instead.
"use strict";
const util = require("node:util");

util.inspect = new Proxy(util.inspect, {
    apply(inspect, self, [value, options, ...rest]) {
        const plain = value instanceof Error && options?.colors === true ? { ...options, colors: false } : options;
        return Reflect.apply(inspect, self, [value, plain, ...rest]);
    },
});
