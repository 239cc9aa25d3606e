        try:
            results = self._call("reference", arrays, params)
        except ValueError as error:
            cause = error.__context__
            if cause is None or isinstance(cause, MISTAKES) or not has_trial_inputs(node):
                raise
            # Random floats, and integers of 0: the toolkit needs only the shapes of the outputs.
            results = {name: np.zeros(shape) for name, shape in zip(self.OUTPUTS, expected[0])}
