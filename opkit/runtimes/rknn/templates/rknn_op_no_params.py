
    def load_params_from_tf(self, node_def, tensor_data_map):
        return {}
